import { randomUUID } from "node:crypto";
import test from "ava";
import { testClock } from "../helpers/database/test_clock.ts";
import { testEvents } from "../helpers/http/event_source.ts";
import type { EventSource } from "../helpers/http/event_source.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";

/** GET /markets/:id/stream: a fresh snapshot first, and the newest after every change. */

const service = testService(test);
const { call, makeMarket, makeTrader, makeTraders, operate, place } = service;

const emptyBook = { yesBids: [], noBids: [] };
const openStream = testEvents(test);

async function watch(marketId: string, url = service.url): Promise<EventSource> {
  return await openStream(`${url}/api/v1/markets/${marketId}/stream`);
}

const profileOf = async ({ userId }: Trader) =>
  (
    await service.database.pool.query(
      "select display_name as name, handle from identity.users where public_id = $1",
      [userId],
    )
  ).rows[0];

test.serial("the first frame comes at once, also of a market without orders", async (t) => {
  const stream = await watch(await makeMarket());
  t.is(stream.status, 200);
  t.is(stream.headers["content-type"], "text/event-stream");
  t.is(stream.headers["cache-control"], "no-cache, no-transform");
  t.is(stream.headers["x-accel-buffering"], "no");
  t.is(stream.headers["x-market-version"], "0");
  t.is(stream.headers["content-encoding"], undefined);
  t.deepEqual(await stream.next(), {
    id: "0",
    data: { orderBook: emptyBook, recentTrades: [], tradersCount: 0 },
  });
});

test.serial("each change brings a snapshot: orders, trades, cancels", async (t) => {
  const marketId = await makeMarket();
  const [ann, bob] = await makeTraders(2);
  const stream = await watch(marketId);
  await stream.next();

  const first = await place(ann, marketId, { price: 40, quantity: 10 });
  t.deepEqual((await stream.next()).data.orderBook, {
    yesBids: [{ price: 40, quantity: 10 }],
    noBids: [],
  });
  await place(ann, marketId, { price: 42, quantity: 5 });
  await stream.next();
  await place(bob, marketId, { side: "no", price: 50, quantity: 7 });
  const book = { yesBids: [42, 40], noBids: [50] };
  const { id, data } = await stream.next();
  t.is(id, "3");
  const prices = (levels: { price: number }[]) => levels.map(({ price }) => price);
  t.deepEqual(prices(data.orderBook.yesBids), book.yesBids);
  t.deepEqual(prices(data.orderBook.noBids), book.noBids);

  const taken = await place(bob, marketId, { side: "no", price: 60, quantity: 8 });
  const traded = (await stream.next()).data;
  t.deepEqual(traded.orderBook, {
    yesBids: [{ price: 40, quantity: 7 }],
    noBids: [{ price: 50, quantity: 7 }],
  });
  const { name, handle } = await profileOf(bob);
  const taker = { takerName: name, takerHandle: handle, takerPrivate: false, side: "no" };
  const { createdAt } = taken;
  t.deepEqual(traded.recentTrades, [
    { price: 40, quantity: 3, createdAt, ...taker },
    { price: 42, quantity: 5, createdAt, ...taker },
  ]);
  t.is(traded.tradersCount, 2);

  await call("DELETE", `/api/v1/orders/${first.id}`, { key: ann.key });
  t.deepEqual((await stream.next()).data.orderBook.yesBids, []);
});

test.serial("a private profile's name is withheld; others may hold anything", async (t) => {
  const marketId = await makeMarket();
  const [ann, bob, eve] = await makeTraders(3);
  await operate("set_profile", { user_id: bob.userId, display_name: 'B"o\nb\\ \u2028é' });
  await operate("set_profile", { user_id: eve.userId, private: true });
  await place(ann, marketId, { price: 50, quantity: 2 });
  await place(bob, marketId, { side: "no", price: 50 });
  await place(eve, marketId, { side: "no", price: 50 });
  const { data } = await (await watch(marketId)).next();
  const [newest, older] = data.recentTrades;
  t.like(newest, { takerName: null, takerHandle: null, takerPrivate: true, side: "no" });
  t.like(older, { takerName: 'B"o\nb\\ \u2028é', takerPrivate: false });
});

test.serial("at most 50 trades, the newest first", async (t) => {
  const marketId = await makeMarket();
  const [ann, bob] = await makeTraders(2);
  await place(ann, marketId, { price: 50, quantity: 100 });
  for (let quantity = 1; quantity <= 9; quantity++) {
    await place(bob, marketId, { side: "no", price: 50, quantity });
  }
  const makers = Array.from({ length: 46 }, () => place(ann, marketId, { price: 60 }));
  await Promise.all(makers);
  await place(bob, marketId, { side: "no", price: 40, quantity: 46 });
  const { data } = await (await watch(marketId)).next();
  t.is(data.recentTrades.length, 50);
  t.deepEqual(
    data.recentTrades.slice(46).map(({ quantity }: { quantity: number }) => quantity),
    [9, 8, 7, 6],
  );
});

test.serial(
  "orders past their expiry count nowhere, also before the job cancels them, at a version of its own",
  async (t) => {
    const marketId = await makeMarket();
    const ann = await makeTrader();
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    await place(ann, marketId, { price: 40, quantity: 5, expiresAt });
    await place(ann, marketId, { price: 40, quantity: 2 });
    const early = await (await watch(marketId)).next();
    t.deepEqual(early.data.orderBook.yesBids, [{ price: 40, quantity: 7 }]);
    const clock = testClock(service.database.pool);
    await clock.advance(3_600_000);
    const late = await (await watch(marketId)).next();
    await clock.release();
    t.is(Number(late.id), Number(early.id) + 1);
    t.deepEqual(late.data.orderBook.yesBids, [{ price: 40, quantity: 2 }]);
  },
);

test.serial("in a burst of changes versions rise, and all clients get the last one", async (t) => {
  const marketId = await makeMarket();
  const traders = await Promise.all(Array.from({ length: 8 }, () => makeTrader()));
  const streams = await Promise.all(Array.from({ length: 5 }, () => watch(marketId)));
  for (let turn = 0; turn < 10; turn++) {
    await Promise.all(
      traders.map((trader, index) => place(trader, marketId, { price: index + 1 })),
    );
  }
  for (const stream of streams) {
    const frames = await stream.until(({ id }) => id === "80");
    const ids = frames.map(({ id }) => Number(id));
    t.deepEqual(
      ids,
      [...new Set(ids)].sort((a, b) => a - b),
    );
    const { yesBids } = frames.at(-1)!.data.orderBook;
    t.deepEqual(yesBids.slice(0, 2), [
      { price: 8, quantity: 10 },
      { price: 7, quantity: 10 },
    ]);
  }
});

test.serial("another server process on the same database hears the same", async (t) => {
  const marketId = await makeMarket();
  const ann = await makeTrader();
  const otherUrl = await service.serveBeside(t);
  const here = await watch(marketId);
  const there = await watch(marketId, otherUrl);
  await Promise.all([here.next(), there.next()]);
  for (const price of [10, 11]) {
    await place(ann, marketId, { price });
    t.deepEqual(await here.next(), await there.next());
  }
});

test.serial("an operator's command is shown too, without a notification", async (t) => {
  const marketId = await makeMarket();
  await place(await makeTrader(), marketId, { price: 40 });
  const stream = await watch(marketId);
  await stream.next();
  await operate("set_market_status", { market_id: marketId, status: "closed" });
  t.deepEqual((await stream.next()).data.orderBook, emptyBook);
});

test.serial(
  "the listening connection is lost and replaced: clients get one new snapshot",
  async (t) => {
    const marketId = await makeMarket();
    const ann = await makeTrader();
    const stream = await watch(marketId);
    await stream.next();
    const { rowCount } = await service.database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'pgmarkets listener'`,
    );
    t.is(rowCount, 1);
    await place(ann, marketId, { price: 40 });
    t.is((await stream.next()).id, "1");
    await place(ann, marketId, { price: 41 });
    t.is((await stream.next()).id, "2");
  },
);

test.serial(
  "browsers get the same stream at /api/stream; Last-Event-ID has no effect",
  async (t) => {
    const marketId = await makeMarket();
    await place(await makeTrader(), marketId, { price: 40 });
    const stream = await openStream(`${service.url}/api/stream/market/${marketId.toUpperCase()}`, {
      "last-event-id": "999",
    });
    t.is((await stream.next()).id, "1");
  },
);

test.serial("HEAD returns the headers and ends", async (t) => {
  const path = `/api/v1/markets/${await makeMarket()}/stream`;
  const { status, headers } = await call("HEAD", path);
  t.is(status, 200);
  t.is(headers.get("content-type"), "text/event-stream");
});

test.serial("400 INVALID_ID, 404: before the stream opens, as JSON", async (t) => {
  for (const path of [
    "/api/v1/markets/x/stream",
    "/api/stream/market/x",
    "/api/v1/markets/%E0%A4%A/stream",
    "/api/stream/market/%ZZ",
  ]) {
    const answer = await call("GET", path);
    t.is(answer.status, 400);
    t.deepEqual(answer.body, { error: "INVALID_ID" });
  }
  const unknown = await call("GET", `/api/v1/markets/${randomUUID()}/stream`);
  t.is(unknown.status, 404);
  t.deepEqual(unknown.body, { error: "Market not found" });
  t.is(unknown.headers.get("content-type"), "application/json; charset=utf-8");
  t.is(unknown.headers.get("cache-control"), "no-store");
});
