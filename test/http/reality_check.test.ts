import test from "ava";
import { testClock } from "../helpers/database/test_clock.ts";
import { testService } from "../helpers/http/test_service.ts";
import { makeMember, makeVisitor } from "../helpers/http/visitor.ts";
import type { Visitor } from "../helpers/http/visitor.ts";

/** The reality check: how long a visit has lasted, when a reminder is due, and what it brought. */

const service = testService(test, { playMoneyCents: 100_000 });
const { call, makeMarket, makeTrader, operate } = service;

const MINUTE_MS = 60_000;
const path = "/api/account/reality-check";
const ask = async (visitor: Visitor) => (await visitor.call("GET", path)).body;
const set = async (visitor: Visitor, everyMinutes: number | null) =>
  (await visitor.call("PUT", path, { body: { everyMinutes } })).body;

test.serial("nobody is reminded who has not asked for it", async (t) => {
  const clock = testClock(service.database.pool);
  await clock.freeze("2030-01-01T10:00:00Z");
  const { visitor } = await makeMember(service);
  t.is((await visitor.call("GET", "/api/account")).body.realityCheckMinutes, null);
  t.deepEqual(await ask(visitor), {
    ...{ everyMinutes: null, startedAt: "2030-01-01T10:00:00.000Z", lastedMs: 0, dueInMs: null },
    ...{ realisedCents: 0, spentCents: 0 },
  });
  await clock.release();
});

test.serial("a reminder is due to the millisecond, until the user goes on", async (t) => {
  const clock = testClock(service.database.pool);
  await clock.freeze("2030-01-01T10:00:00Z");
  const { visitor, person } = await makeMember(service);
  await clock.advance(7 * MINUTE_MS);
  // The time begins when it is set.
  t.is((await set(visitor, 30)).dueInMs, 30 * MINUTE_MS);
  t.is((await visitor.call("GET", "/api/account")).body.realityCheckMinutes, 30);
  await clock.advance(30 * MINUTE_MS - 1);
  t.like(await ask(visitor), { dueInMs: 1, lastedMs: 37 * MINUTE_MS - 1 });
  await clock.advance(1);
  for (const minutes of [0, 10, 25]) {
    await clock.advance(minutes * MINUTE_MS);
    t.is((await ask(visitor)).dueInMs, 0, "it stays due");
  }
  const gone = await visitor.call("POST", path);
  t.is(gone.status, 200);
  const next = { everyMinutes: 30, dueInMs: 30 * MINUTE_MS };
  t.deepEqual(gone.body, next);
  t.like(await ask(visitor), { ...next, lastedMs: 72 * MINUTE_MS });

  // Another browser has a visit of its own.
  const other = makeVisitor(service);
  const { email, password } = person;
  await other.call("POST", "/api/account/sign-in", { body: { email, password } });
  await clock.advance(20 * MINUTE_MS);
  t.like(await ask(other), { dueInMs: 10 * MINUTE_MS, lastedMs: 20 * MINUTE_MS });
  t.like(await ask(visitor), { dueInMs: 10 * MINUTE_MS, lastedMs: 92 * MINUTE_MS });
  // Another time begins in both.
  await set(other, 15);
  t.is((await ask(visitor)).dueInMs, 15 * MINUTE_MS);
  t.deepEqual(await set(visitor, null), { everyMinutes: null, dueInMs: null });
  t.like(await ask(other), { everyMinutes: null, dueInMs: null });
  await clock.release();
});

test.serial("a break of more than half an hour ends the visit", async (t) => {
  const clock = testClock(service.database.pool);
  await clock.freeze("2030-01-01T10:00:00Z");
  const { visitor } = await makeMember(service);
  await set(visitor, 60);
  await clock.advance(30 * MINUTE_MS);
  t.like(await ask(visitor), { lastedMs: 30 * MINUTE_MS, dueInMs: 30 * MINUTE_MS });
  await clock.advance(30 * MINUTE_MS + 1);
  t.like(await ask(visitor), { lastedMs: 0, dueInMs: 60 * MINUTE_MS });
  await clock.release();
});

test.serial("the figures are those of the ledger since the visit began", async (t) => {
  const clock = testClock(service.database.pool);
  await clock.freeze("2030-01-01T10:00:00Z");
  const { visitor, userId } = await makeMember(service);
  const none = { day_cents: null, week_cents: null, month_cents: null };
  await operate("set_loss_limits", { user_id: userId, ...none });
  const key: string = await operate("create_api_key", { user_id: userId, name: "bot" });
  const maker = await makeTrader();
  const [first, second] = [await makeMarket(), await makeMarket()];
  const order = (marketId: string, by: string, body: object) =>
    call("POST", "/api/v1/orders", { key: by, body: { marketId, ...body } });
  const figures = async () => {
    const { realisedCents, spentCents } = await ask(visitor);
    return [realisedCents, spentCents];
  };

  // 10 YES at 40: 400, and 7% of 10 x 0.40 x 0.60 is 16.8 cents, rounded up.
  await order(first, maker.key, { side: "no", price: 60, quantity: 10 });
  await order(first, key, { side: "yes", price: 40, quantity: 10 });
  t.deepEqual(await figures(), [0, 417]);

  // A new visit: what was before it does not count, nor does cash from outside.
  await clock.advance(31 * MINUTE_MS);
  await operate("deposit", { user_id: userId, amount_cents: 5000, reference: "more" });
  t.deepEqual(await figures(), [0, 0]);
  // 4 of them are sold at 70, by a key: 280 less 6 of fee, less 160 of cost and 7 of buy fees.
  await order(first, maker.key, { side: "yes", price: 70, quantity: 4 });
  await order(first, key, { side: "yes", orderType: "sell", price: 70, quantity: 4 });
  t.deepEqual(await figures(), [107, -274]);
  // 5 NO at 20 as a maker, without a fee: they lose all.
  await order(second, key, { side: "no", price: 20, quantity: 5 });
  await order(second, maker.key, { side: "yes", price: 80, quantity: 5 });
  t.deepEqual(await figures(), [107, -174]);
  await operate("resolve_market", { market_id: second, outcome: "yes" });
  t.deepEqual(await figures(), [7, -174]);
  // Corrected, the 5 shares pay 500.
  await operate("correct_resolution", { market_id: second, outcome: "no", reason: "a mistake" });
  t.deepEqual(await figures(), [507, -674]);
  const sets = { marketId: first, quantity: 2 };
  await call("POST", "/api/v1/positions/split", { key, body: sets });
  t.deepEqual(await figures(), [507, -474]);
  // 2 YES go with their part of 8 held: cost 340 and fees 10 of them, 85 and 3 (2.5); NO cost 100.
  await call("POST", "/api/v1/positions/merge", { key, body: sets });
  t.deepEqual(await figures(), [507 + 200 - 85 - 3 - 100, -674]);
  await clock.release();
});

test.serial("INVALID_REQUEST: another time than the four", async (t) => {
  const { visitor } = await makeMember(service);
  for (const everyMinutes of [0, 1, 31, 240, -15, "30", undefined]) {
    const answer = await visitor.call("PUT", path, { body: { everyMinutes } });
    t.deepEqual([answer.status, answer.body.code], [400, "INVALID_REQUEST"]);
  }
  t.is((await ask(visitor)).everyMinutes, null);
});
