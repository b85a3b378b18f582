import test from "ava";
import { pino } from "pino";
import { marketChangeSchema } from "../../src/api/streams.ts";
import { asServerPools } from "../../src/database/server_pools.ts";
import { serve } from "../../src/server/start_server.ts";
import { applyFrame, levelsOf } from "../helpers/exchange/local_book.ts";
import type { LocalBook } from "../helpers/exchange/local_book.ts";
import { testEvents } from "../helpers/http/event_source.ts";
import type { EventSource } from "../helpers/http/event_source.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";
import { effort, randomFrom } from "../helpers/random.ts";
import { until } from "../helpers/until.ts";

/** GET /stream: a snapshot of each market, and then its changes. */

const service = testService(test);
const { call, makeMarket, makeTraders, operate, place } = service;
const openStream = testEvents(test);

async function watch(
  markets: string[],
  { url = service.url, gzip = false } = {},
): Promise<EventSource> {
  return await openStream(
    `${url}/api/v1/stream?markets=${markets.join(",")}`,
    gzip ? { "accept-encoding": "gzip, br" } : {},
  );
}

test.serial("a snapshot of each market, and then what changes", async (t) => {
  const markets = [await makeMarket(), await makeMarket()];
  const [ann, bob] = await makeTraders(2);
  await place(ann, markets[0]!, { price: 40, quantity: 10 });
  const stream = await watch(markets);
  t.is(stream.status, 200);
  t.is(stream.headers["content-encoding"], undefined);
  const first = [await stream.next(), await stream.next()].map(({ data }) => data);
  t.deepEqual(
    first.toSorted((a, b) => b.version - a.version),
    [
      {
        marketId: markets[0],
        version: 1,
        snapshot: {
          orderBook: { yesBids: [{ price: 40, quantity: 10 }], noBids: [] },
          ...{ recentTrades: [], tradersCount: 0, status: "open" },
        },
      },
      {
        marketId: markets[1],
        version: 0,
        snapshot: {
          orderBook: { yesBids: [], noBids: [] },
          ...{ recentTrades: [], tradersCount: 0, status: "open" },
        },
      },
    ],
  );
  await place(ann, markets[1]!, { side: "no", price: 30, quantity: 2 });
  t.deepEqual((await stream.next()).data, {
    ...{ marketId: markets[1], version: 1, since: 0 },
    ...{ levels: [["no", 30, 2]], trades: [], status: "open" },
  });
  await place(bob, markets[0]!, { side: "no", price: 60, quantity: 10 });
  const { data: traded } = await stream.next();
  const { body } = await call("GET", `/api/v1/markets/${markets[0]}/trades`);
  t.deepEqual(traded, {
    ...{ marketId: markets[0], version: 2, since: 1, levels: [["yes", 40, 0]] },
    trades: [{ ...body.data[0], side: "no" }],
    status: "open",
  });
  await operate("set_market_status", { market_id: markets[1]!, status: "paused" });
  const { data: paused } = await stream.next();
  t.deepEqual(paused, {
    ...{ marketId: markets[1], version: 1, since: 1, levels: [], trades: [], status: "paused" },
  });
  for (const frame of [...first, traded, paused]) {
    t.notThrows(() => marketChangeSchema.parse(frame));
  }
});

test.serial(
  "books kept by changes are the exchange's, on two servers, plain and gzip",
  async (t) => {
    const random = randomFrom("change_stream");
    const markets = [await makeMarket(), await makeMarket(), await makeMarket()];
    const traders = await makeTraders(3);
    const config = { host: "127.0.0.1", port: 0, trustProxy: false };
    const pool = service.database.connectAs("exchange_api");
    const other = await serve({
      pools: asServerPools(pool),
      config,
      logger: pino({ level: "silent" }),
    });
    const clients: { stream: EventSource; books: Map<string, LocalBook>; fault?: string }[] = [];
    const join = async (options: { url?: string; gzip?: boolean }) => {
      const client = { stream: await watch(markets, options), books: new Map<string, LocalBook>() };
      clients.push(client);
      void (async () => {
        for (;;) applyFrame(client.books, (await client.stream.next()).data);
      })().catch((error: unknown) => Object.assign(client, { fault: String(error) }));
    };
    try {
      await join({});
      await join({ url: other.url, gzip: true });
      const open: { trader: Trader; id: string }[] = [];
      for (let turn = 0; turn < effort(120); turn++) {
        if (turn % 40 === 20) await join({ gzip: random.chance(0.5) });
        const trader = random.anyOf(traders);
        const answer = await call("POST", "/api/v1/orders", {
          key: trader.key,
          body: {
            marketId: random.anyOf(markets),
            side: random.anyOf(["yes", "no"]),
            price: random.between(40, 60),
            quantity: random.between(1, 9),
          },
        });
        if (answer.status === 201) open.push({ trader, id: answer.body.order.id });
        const gone = random.chance(0.3) ? open.shift() : undefined;
        if (gone) await call("DELETE", `/api/v1/orders/${gone.id}`, { key: gone.trader.key });
      }
      for (const marketId of markets) {
        const { body, headers } = await call("GET", `/api/v1/markets/${marketId}/orderbook`);
        const version = Number(headers.get("x-market-version"));
        const { rows } = await service.database.pool.query(
          `select t.public_id as id from trading.trades as t
         join catalog.markets as m on m.id = t.market_id
         where m.public_id = $1 order by t.id`,
          [marketId],
        );
        for (const client of clients) {
          await until("it has the last version", async () => {
            if (client.fault !== undefined) throw new Error(client.fault);
            return client.books.get(marketId)?.version === version;
          });
          const { levels, tradeIds } = client.books.get(marketId)!;
          t.deepEqual([...levels].toSorted(), [...levelsOf(body)].toSorted());
          const ids = rows.map(({ id }) => id);
          t.deepEqual(tradeIds, ids.slice(ids.length - tradeIds.length));
        }
        t.is(clients[0]!.books.get(marketId)!.tradeIds.length, rows.length);
      }
    } finally {
      await other.close();
    }
    const [, compressed] = clients;
    await compressed!.stream.ended;
    await until("what came can be read to its end", async () => compressed!.stream.isWhole());
    t.is(compressed!.stream.headers["content-encoding"], "gzip");
  },
);

test.serial("more trades at once than a frame tells are a snapshot", async (t) => {
  const marketId = await makeMarket();
  const [ann, bob] = await makeTraders(2);
  const stream = await watch([marketId]);
  await stream.next();
  const orders = Array.from({ length: 250 }, () => ({
    ...{ marketId, userId: ann.userId, side: "yes", price: 50, quantity: 1 },
  }));
  orders.push({ marketId, userId: bob.userId, side: "no", price: 50, quantity: 250 });
  await service.database.pool.query("select from api.place_orders(orders => $1)", [
    JSON.stringify(orders),
  ]);
  const { data } = await stream.next();
  t.is(data.version, 251);
  t.is(data.snapshot.recentTrades.length, 50);
});

test.serial("400 INVALID_REQUEST, 404: no market, too many, no ids, an unknown one", async (t) => {
  const marketId = await makeMarket();
  const many = Array.from({ length: 201 }, () => marketId);
  for (const markets of [[], ["x"], [marketId, ""], many]) {
    const stream = await watch(markets);
    t.is(stream.status, 400);
    t.like(stream.body, { code: "INVALID_REQUEST" });
  }
  const stream = await watch([marketId, "01900000-0000-7000-8000-000000000000"]);
  t.is(stream.status, 404);
  t.deepEqual(stream.body, { error: "Market not found" });
  const twice = await watch([marketId, marketId.toUpperCase()]);
  t.is((await twice.next()).data.marketId, marketId);
});
