import test from "ava";
import { userEventSchema } from "../../src/api/streams.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { testEvents } from "../helpers/http/event_source.ts";
import type { EventSource, Frame } from "../helpers/http/event_source.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";
import { ordersIn } from "../helpers/exchange/orders.ts";

/** GET /user/stream: what happens to a user, to them alone. */

const service = testService(test);
const { call, makeMarket, makeTrader, makeTraders, operate, place } = service;

const connected = { data: { type: "connected" } };
const openStream = testEvents(test);

interface ListenOptions {
  url?: string;
  include?: string;
  /** The id of the last frame that the client has. */
  after?: string | undefined;
}

async function listen(
  { key }: Trader,
  { url = service.url, include, after }: ListenOptions = {},
): Promise<EventSource> {
  const query = include === undefined ? "" : `?include=${include}`;
  return await openStream(`${url}/api/v1/user/stream${query}`, {
    authorization: `Bearer ${key}`,
    ...(after === undefined ? {} : { "last-event-id": after }),
  });
}

/** When this event has come, all earlier events of the user have come. */
async function sendMark({ userId }: Trader): Promise<void> {
  await service.database.pool.query(
    `insert into trading.outbox (channel, payload)
     values ('user_event', json_build_object('userId', $1::text, 'event', '{"type":"mark"}'::json))`,
    [userId],
  );
}

async function untilMark(stream: EventSource): Promise<any[]> {
  const frames = await stream.until(({ data }) => data.type === "mark");
  return frames.slice(0, -1).map(({ data }) => data);
}

async function keyIdOf({ userId }: Trader): Promise<string> {
  const operators = service.database.connectAs("exchange_operator", { max: 1 });
  const { rows } = await operators.query(
    "select id from admin.list_api_keys(user_id => $1) where revoked_at is null",
    [userId],
  );
  await operators.end();
  return rows[0].id;
}

test.serial("it greets, and then sends fills and cancels to their user alone", async (t) => {
  const marketId = await makeMarket({ title: 'Will "it" rain?' });
  const [ann, bob] = [await makeTrader({ fundsCents: 1000 }), await makeTrader()];
  const streamOfAnn = await listen(ann);
  const streamOfBob = await listen(bob);
  t.is(streamOfAnn.status, 200);
  t.is(streamOfAnn.headers["content-type"], "text/event-stream");
  t.like(await streamOfAnn.next(), connected);
  t.like(await streamOfBob.next(), connected);

  const orders = [];
  for (const price of [50, 49]) orders.push(await place(ann, marketId, { price, quantity: 10 }));
  const broke = await place(ann, marketId, { price: 48, quantity: 20 });
  await place(bob, marketId, { side: "no", price: 51, quantity: 20 });
  t.deepEqual((await streamOfAnn.next()).data, {
    type: "maker_fill",
    marketId,
    orderIds: orders.map(({ id }) => id),
    fillCount: 2,
  });
  await place(bob, marketId, { side: "no", price: 52, quantity: 1, timeInForce: "gtc" });
  await place(bob, marketId, { side: "no", price: 52, quantity: 19, timeInForce: "gtc" });
  const frames = await streamOfAnn.until(({ data }) => data.type === "order_cancelled");
  t.deepEqual(frames.at(-1)!.data, {
    type: "order_cancelled",
    orderId: broke.id,
    marketId,
    marketTitle: 'Will "it" rain?',
    side: "yes",
    price: 48,
    quantity: 20,
    filledQuantity: 0,
    cancelReason: "insufficient_funds",
  });
  await sendMark(bob);
  t.deepEqual(await untilMark(streamOfBob), []);
});

test.serial("all streams of a user hear each event once, in order, in all processes", async (t) => {
  const marketId = await makeMarket();
  const [ann, bob] = await makeTraders(2);
  const otherUrl = await service.serveBeside(t);
  const streams = [await listen(ann), await listen(ann), await listen(ann, { url: otherUrl })];
  const orders = [];
  for (let turn = 0; turn < 20; turn++) {
    orders.push(await place(ann, marketId, { price: 50 }));
    await place(bob, marketId, { side: "no", price: 50 });
  }
  await sendMark(ann);
  for (const stream of streams) {
    const [greeting, ...events] = await untilMark(stream);
    t.is(greeting.type, "connected");
    t.deepEqual(
      events.map(({ orderIds }) => orderIds),
      orders.map(({ id }) => [id]),
    );
  }
});

test.serial("no event is sent for a rollback or a replay", async (t) => {
  const marketId = await makeMarket();
  const [ann, bob] = await makeTraders(2);
  const stream = await listen(ann);
  await place(ann, marketId, { price: 50, quantity: 2 });
  const client = await service.database.pool.connect();
  await client.query("begin");
  await client.query("select * from api.place_orders(orders => $1)", [
    ordersIn(marketId, [{ userId: bob.userId, side: "no", price: 50, quantity: 1 }]),
  ]);
  await client.query("rollback");
  client.release();
  const idempotencyKey = "00000000-0000-4000-8000-00000000000a";
  const order = { side: "no", price: 50, idempotencyKey };
  const placed = await place(bob, marketId, order);
  t.is((await place(bob, marketId, order)).id, placed.id);
  await sendMark(ann);
  const types = (await untilMark(stream)).map(({ type }) => type);
  t.deepEqual(types, ["connected", "maker_fill"]);
});

test.serial(
  "an order on a live market has an event when it is accepted and when it is released",
  async (t) => {
    const category = "tests";
    const event_id = await operate("create_event", { title: "Match", category, live: true });
    const marketId = await operate("create_market", { title: "A draw?", category, event_id });
    const ann = await makeTrader();
    const stream = await listen(ann);
    const idempotencyKey = "00000000-0000-4000-8000-00000000000b";
    const order = { price: 40, quantity: 5, idempotencyKey };
    const { id, releaseAt } = await place(ann, marketId, order);
    await place(ann, marketId, order); // a replay, which has no event
    const clock = testClock(service.database.pool);
    await clock.advance(3000);
    const { rows } = await service.database.pool.query("select admin.run_due() as done");
    await clock.release();
    t.is(rows[0].done.released, 1);
    await sendMark(ann);
    const events = await untilMark(stream);
    const fields = { orderId: id, marketId, side: "yes", price: 40, quantity: 5 };
    const open = { status: "open", filledQuantity: 0, cancelReason: null, fills: 0 };
    t.deepEqual(events, [
      connected.data,
      { type: "order_pending", ...fields, releaseAt, budgetCents: null },
      { type: "order_released", ...fields, ...open, balance: 1_000_000, feeCents: 0 },
    ]);
    for (const told of events) t.notThrows(() => userEventSchema.parse(told));
  },
);

test.serial("an event of any length is delivered, in its order", async (t) => {
  const marketId = await makeMarket();
  const [ann, bob] = await makeTraders(2);
  const stream = await listen(ann);
  const orders = await Promise.all(
    Array.from({ length: 300 }, () => place(ann, marketId, { price: 50 })),
  );
  await place(bob, marketId, { side: "no", price: 50, quantity: 300 });
  await sendMark(ann);
  const [, event] = await untilMark(stream);
  t.is(event.fillCount, 300);
  t.deepEqual(event.orderIds.toSorted(), orders.map(({ id }) => id).toSorted());
});

test.serial("the streams of a revoked key end, those of other keys go on", async (t) => {
  const ann = await makeTrader();
  const keyId = await keyIdOf(ann);
  const other = {
    ...ann,
    key: await operate("create_api_key", { user_id: ann.userId, name: "b" }),
  };
  const [revoked, kept] = [await listen(ann), await listen(other)];
  await operate("revoke_api_key", { key_id: keyId });
  await revoked.ended;
  t.is((await listen(ann)).status, 401);
  await sendMark(ann);
  t.deepEqual(await untilMark(kept), [connected.data]);
});

test.serial("a login that may only read can't send or read events", async (t) => {
  const [ann, bob] = await makeTraders(2);
  const stream = await listen(ann);
  const keyId = await keyIdOf(ann);
  const analyst = await service.database.connectAs("exchange_analyst", { max: 1 }).connect();
  const overheard: string[] = [];
  analyst.on("notification", ({ channel, payload = "" }) => overheard.push(channel + payload));
  const channels = [
    ...["pgmarkets_events", "market_changed", "user_event", "api_key_revoked", "session_ended"],
  ];
  for (const channel of channels) await analyst.query(`listen ${channel}`);
  const released = { type: "order_released", orderId: keyId, balance: 1, feeCents: 0 };
  const abouts = [
    { userId: ann.userId, event: released },
    { apiKeyId: keyId },
    { sessionId: keyId },
    { marketId: keyId, version: 1_000_000 },
  ];
  for (const channel of channels) {
    for (const about of abouts) {
      for (const forged of [{ id: 1, about }, { id: 1, kind: channel, payload: about }, about]) {
        await analyst.query("select pg_notify($1, $2)", [channel, JSON.stringify(forged)]);
      }
    }
  }
  overheard.length = 0;
  const marketId = await makeMarket();
  await place(bob, marketId, { price: 40 });
  await sendMark(ann);
  t.deepEqual(await untilMark(stream), [connected.data]);
  while (overheard.length === 0) await analyst.query("select");
  t.true(overheard.every((heard) => /^pgmarkets_events\d+$/.test(heard)));
  await t.throwsAsync(analyst.query("select * from api.follow_events()"), { code: "42501" });
  await t.throwsAsync(analyst.query("table trading.sent_events"), { code: "42501" });
  analyst.release(true);
});

test.serial("the listening connection is lost and replaced: nothing is missed", async (t) => {
  const marketId = await makeMarket();
  const [ann, bob] = await makeTraders(2);
  const keyId = await keyIdOf(bob);
  const [kept, revoked] = [await listen(ann), await listen(bob)];
  await kept.next();
  const pool = service.database.pool;
  const operator = await pool.connect();
  // As if the revocation had been announced while the connection was down.
  await operator.query("begin");
  await operator.query("select admin.revoke_api_key(key_id => $1)", [keyId]);
  await operator.query("delete from trading.outbox where channel = 'api_key_revoked'");
  await operator.query("commit");
  operator.release();
  await pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'pgmarkets listener'`,
  );
  const cat = await makeTrader();
  await place(ann, marketId, { price: 50 });
  await place(cat, marketId, { side: "no", price: 50 });
  await revoked.ended;
  await sendMark(ann);
  t.deepEqual(
    (await untilMark(kept)).map(({ type }) => type),
    ["maker_fill"],
  );
});

test.serial("Last-Event-ID: every event once and in order, whichever server answers", async (t) => {
  const marketId = await makeMarket();
  const [ann, bob] = await makeTraders(2);
  const otherUrl = await service.serveBeside(t);
  const include = "fills,markets";
  const whole = await listen(ann, { include });
  let stream = await listen(ann, { include });
  let last = (await stream.next()).id;
  const seen: Frame[] = [];
  for (let turn = 0; turn < 12; turn++) {
    await place(ann, marketId, { price: 50, quantity: 2 });
    await place(bob, marketId, { side: "no", price: 50 });
    if (turn % 3 === 2) continue;
    if (turn % 3 === 0) seen.push(await stream.next());
    last = seen.at(-1)?.id ?? last;
    stream.close();
    await stream.ended;
    await place(bob, marketId, { side: "no", price: 50 });
    const url = turn % 2 === 0 ? otherUrl : service.url;
    stream = await listen(ann, { include, after: last, url });
    t.deepEqual(await stream.next(), { id: last, data: { type: "connected" } });
  }
  await sendMark(ann);
  seen.push(...(await stream.until(({ data }) => data.type === "mark")));
  const [, ...frames] = await whole.until(({ data }) => data.type === "mark");
  t.deepEqual(seen, frames);
  const ids = frames.map(({ id }) => Number(id));
  t.deepEqual(
    ids,
    [...new Set(ids)].toSorted((a, b) => a - b),
  );
  t.is(frames.filter(({ data }) => data.type === "fill").length, 20);
  for (const { data } of frames.slice(0, -1)) t.notThrows(() => userEventSchema.parse(data));
});

test.serial("409 EVENTS_GONE as JSON before the stream: too old, or unknown", async (t) => {
  const marketId = await makeMarket();
  const [ann, bob] = await makeTraders(2);
  const first = await listen(ann);
  const { id: after } = await first.next();
  first.close();
  await place(ann, marketId, { price: 50 });
  await place(bob, marketId, { side: "no", price: 50 });
  const known = await listen(ann, { after });
  t.is(known.status, 200);
  await known.next();
  const { id: last } = await known.next();
  const clock = testClock(service.database.pool);
  await clock.advance(24 * 3_600_000 + 60_000);
  for (const gone of [after, String(Number(last) + 1_000_000), "x", "-1", "9".repeat(30)]) {
    const stream = await listen(ann, { after: gone });
    t.is(stream.status, 409, gone);
    t.like(stream.body, { code: "EVENTS_GONE" });
  }
  t.is((await listen(ann, { after: "" })).status, 200, "as if there were none");
  await clock.release();
});

test.serial("INVALID_REQUEST for an unknown include", async (t) => {
  const ann = await makeTrader();
  for (const include of ["trades", "fills;markets", "fills,"]) {
    const stream = await listen(ann, { include });
    t.is(stream.status, 400);
    t.like(stream.body, { code: "INVALID_REQUEST" });
  }
  t.is((await listen(ann, { include: "markets,fills,settlements,fills" })).status, 200);
});

test.serial("fills, settlements and statuses come to those who ask for them", async (t) => {
  const marketId = await makeMarket();
  const [ann, bob] = await makeTraders(2);
  const plain = await listen(ann);
  const all = await listen(ann, { include: "fills,settlements,markets" });
  const taker = await listen(bob, { include: "fills" });
  const order = await place(ann, marketId, { price: 40, quantity: 3 });
  await place(bob, marketId, { side: "no", price: 60, quantity: 3 });
  await operate("resolve_market", { market_id: marketId, outcome: "yes" });
  await sendMark(ann);
  await sendMark(bob);
  const events = await untilMark(all);
  t.deepEqual(
    events.map(({ type }) => type),
    ["connected", "fill", "maker_fill", "market_status", "market_status", "settled"],
  );
  t.like(events[1], {
    ...{ orderId: order.id, marketId, side: "yes", orderType: "buy", price: 40, quantity: 3 },
    ...{ liquidity: "maker", feeCents: 0, cashCents: -120, orderStatus: "filled" },
  });
  t.like(events.at(-1), { marketId, outcome: "yes", payoutCents: 300, balance: 1_000_180 });
  for (const event of events) t.notThrows(() => userEventSchema.parse(event));
  const typesOf = async (stream: EventSource) => (await untilMark(stream)).map(({ type }) => type);
  t.deepEqual(await typesOf(plain), ["connected", "maker_fill"]);
  t.deepEqual(await typesOf(taker), ["connected", "fill"]);
});

test.serial("a client that takes its time misses nothing, and little waits for it", async (t) => {
  const [ann] = [await makeTrader()];
  const stream = await listen(ann);
  const { id: after } = await stream.next();
  stream.pause();
  await service.database.pool.query(
    `insert into trading.outbox (channel, payload)
     select 'user_event', json_build_object(
       'userId', $1::text, 'event', json_build_object('type', 'test', 'n', n, 'pad', repeat('x', 1000))
     )
     from generate_series(1, 20000) as n`,
    [ann.userId],
  );
  await sendMark(ann);
  const quick = await listen(ann, { after });
  const seen = await untilMark(quick);
  stream.resume();
  const late = await untilMark(stream);
  const numbers = Array.from({ length: 20_000 }, (_, index) => index + 1);
  t.deepEqual(
    late.map(({ n }) => n),
    numbers,
  );
  t.deepEqual(
    seen.slice(1).map(({ n }) => n),
    numbers,
  );
});

test.serial("the website's cookie opens the stream while the session lasts", async (t) => {
  const ann = await makeTrader();
  const session = { user_id: ann.userId };
  const login = () => operate("create_session", { ...session, valid_for: "1 hour" });
  const open = async (cookie: string) => {
    const headers = { cookie: `a=b; pgmarkets_session=${cookie}` };
    return await openStream(`${service.url}/api/stream/user`, headers);
  };
  const cookies = [await login(), await login()];
  const [ended, kept] = [await open(cookies[0]), await open(cookies[1])];
  const { body } = await call("GET", "/api/auth/token", {
    headers: { cookie: `pgmarkets_session=${cookies[0]}` },
  });
  const byToken = await listen({ ...ann, key: body.token });
  t.like(await byToken.next(), connected);
  await operate("end_sessions", { ...session, cookie: cookies[0] });
  await Promise.all([ended.ended, byToken.ended]);
  await sendMark(ann);
  t.deepEqual(await untilMark(kept), [connected.data]);
  t.is((await open(cookies[0])).status, 401);
});

test.serial("401 without a valid cookie, as JSON", async (t) => {
  const { key } = await makeTrader();
  const expectations: [path: string, headers: Record<string, string>][] = [
    ["/api/stream/user", {}],
    ["/api/stream/user", { authorization: `Bearer ${key}` }],
    ["/api/stream/user", { cookie: `pgmarkets_session=${key}` }],
  ];
  for (const [path, headers] of expectations) {
    const answer = await call("GET", path, { headers });
    t.is(answer.status, 401);
    t.deepEqual(answer.body, { error: "Unauthorized" });
  }
});
