import { randomUUID } from "node:crypto";
import test from "ava";
import type { CancelledOrders } from "../../../src/database/calls.ts";
import { buy, idsOf } from "../../helpers/exchange/orders.ts";
import { restUntilExpiry, scatterOrders } from "../../helpers/exchange/scenes.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

const exchange = testExchange(test);
const { balance, book, clock, makeMarketWith, makeMarkets } = exchange;
const { makeTrader, operate, order, rest, version } = exchange;

const nowhere = "01900000-0000-7000-8000-000000000000";

interface Options {
  marketId?: string;
  idempotencyKey?: string;
  requestFingerprint?: string;
}

/** One call. */
const piece = (
  userId: string,
  options: Options & { untilOrderId?: number | null; cancelledBefore?: number } = {},
): Promise<CancelledOrders> =>
  exchange.calls.cancelAllOrders({ cancelledBefore: 0, userId, ...options });

/** Calls until there is an answer, as a server does. */
async function cancelAll(userId: string, options: Options = {}) {
  let result = await piece(userId, options);
  while (result.code === null && result.body === null) {
    const { cancelled, lastOrderId } = result;
    const more = { untilOrderId: lastOrderId, cancelledBefore: cancelled! };
    result = await piece(userId, { ...options, ...more });
  }
  const { code, replayed, body } = result;
  return { code, replayed, answer: body === null ? null : JSON.parse(body) };
}

test("resting and scheduled orders of all markets; other users' stay", async (t) => {
  const { one, two, live, ann, part, orders } = await scatterOrders(exchange);
  const before = [await version(one), await version(two), await version(live)] as const;
  const cents = await balance(ann);
  t.deepEqual((await cancelAll(ann)).answer, {
    cancelled: 5,
    balance: { total: cents, available: cents },
  });
  for (const id of orders) {
    t.like(await order(ann, id), { status: "cancelled", cancelReason: "user_cancelled" });
  }
  t.is((await order(ann, part)).filledQuantity, 2);
  t.deepEqual(await book(one), { bids: ["4 @ 40"], asks: [] });
  t.deepEqual(await book(two), { bids: [], asks: [] });
  // One change of each market whose book it was, however many orders left it.
  const after = [await version(one), await version(two), await version(live)];
  t.deepEqual(after, [before[0] + 1, before[1] + 1, before[2]]);
  t.is((await cancelAll(ann)).answer.cancelled, 0);
});

test("in one market", async (t) => {
  const [one, two, three] = await makeMarkets(3);
  const ann = await makeTrader();
  await rest(one, ann, buy("yes", 1, 40), buy("no", 1, 40));
  await rest(two, ann, buy("yes", 1, 40));
  t.is((await cancelAll(ann, { marketId: three })).answer.cancelled, 0);
  t.is((await cancelAll(ann, { marketId: one })).answer.cancelled, 2);
  t.deepEqual(await book(one), { bids: [], asks: [] });
  t.deepEqual(await book(two), { bids: ["1 @ 40"], asks: [] });
});

test("MARKET_NOT_FOUND, UNAUTHORIZED: nothing is cancelled", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await rest(market, ann, buy("yes", 1, 40));
  t.is((await cancelAll(ann, { marketId: nowhere })).code, "MARKET_NOT_FOUND");
  t.is((await cancelAll(nowhere)).code, "UNAUTHORIZED");
  t.deepEqual(await book(market), { bids: ["1 @ 40"], asks: [] });
});

test("it works for a paused market, and for a user who is frozen", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await rest(market, ann, buy("yes", 1, 40));
  await operate("set_market_status", { market_id: market, status: "paused" });
  await operate("freeze_user", { user_id: ann, reason: "why", cancel_orders: false });
  t.is((await cancelAll(ann)).answer.cancelled, 1);
});

test.serial("the owner gets no event but of an order that had expired", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const { due, open } = await restUntilExpiry(exchange, market, ann);
  const listener = await exchange.listen();
  t.is((await cancelAll(ann)).answer.cancelled, 1);
  t.is((await order(ann, due)).cancelReason, "expired");
  t.is((await order(ann, open)).cancelReason, "user_cancelled");
  t.deepEqual(
    (await listener.heard()).users.map(({ userId, event }) => [userId, event.orderId]),
    [[ann, due]],
  );
  await clock.release();
});

test("one call cancels 200 orders of 16 markets at most; together they cancel all", async (t) => {
  const ann = await makeTrader();
  const [busy, ...others] = (await makeMarkets(20)) as [string, ...string[]];
  for (const market of others) await rest(market, ann, buy("yes", 1, 1));
  await exchange.placeBatch(
    busy,
    Array.from({ length: 250 }, () => [ann, buy("yes", 1, 1)]),
  );
  const first = await piece(ann);
  t.is(first.body, null);
  t.true(first.cancelled! > 0 && first.cancelled! <= 200);
  const { answer } = await cancelAll(ann);
  t.is(answer.cancelled, 250 + 19 - first.cancelled!);
  for (const market of [busy, ...others]) t.deepEqual(await book(market), { bids: [], asks: [] });
});

test("an order that comes between the calls stays, one that replaces an old one goes", async (t) => {
  const markets = await makeMarkets(18);
  const ann = await makeTrader();
  const ids: string[] = [];
  for (const market of markets) ids.push(...(await rest(market, ann, buy("yes", 2, 10))));
  const first = await piece(ann);
  t.is(first.body, null);
  const open = (await exchange.orders(ann)).data;
  t.is(open.length, 2);
  const [amended, other] = open as [(typeof open)[0], (typeof open)[0]];
  await exchange.amend(ann, amended.id, { price: 11 });
  const [again] = (await exchange.orders(ann, { market: amended.marketId })).data;
  await exchange.amend(ann, again!.id, { price: 12 });
  const [late] = await rest(other.marketId, ann, buy("yes", 3, 5));
  const { cancelled, lastOrderId } = first;
  const last = await piece(ann, { untilOrderId: lastOrderId, cancelledBefore: cancelled! });
  t.is(JSON.parse(last.body!).cancelled, 18);
  t.deepEqual(idsOf((await exchange.orders(ann)).data), [late]);
});

test("the same key twice: the first answer again, and later orders stay", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const once = { idempotencyKey: randomUUID(), requestFingerprint: randomUUID() };
  await rest(market, ann, buy("yes", 1, 40), buy("yes", 1, 41));
  const first = await cancelAll(ann, once);
  t.like(first, { code: null, replayed: false });
  t.is(first.answer.cancelled, 2);
  await rest(market, ann, buy("yes", 7, 42));
  const second = await cancelAll(ann, once);
  t.true(second.replayed);
  t.deepEqual(second.answer, first.answer);
  t.deepEqual(await book(market), { bids: ["7 @ 42"], asks: [] });
});

test("IDEMPOTENCY_KEY_REUSED: a key of another request, or of an order", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const once = { idempotencyKey: randomUUID(), requestFingerprint: randomUUID() };
  await cancelAll(ann, once);
  await rest(market, ann, buy("yes", 1, 40));
  const other = await cancelAll(ann, { ...once, requestFingerprint: randomUUID() });
  t.is(other.code, "IDEMPOTENCY_KEY_REUSED");
  const ofOrder = randomUUID();
  await rest(market, ann, buy("yes", 1, 41, { idempotencyKey: ofOrder }));
  const reused = await cancelAll(ann, { ...once, idempotencyKey: ofOrder });
  t.is(reused.code, "IDEMPOTENCY_KEY_REUSED");
  t.deepEqual(await book(market), { bids: ["1 @ 41", "1 @ 40"], asks: [] });
});

test("a repetition goes on where a lost server stopped, and counts what that one cancelled", async (t) => {
  const markets = await makeMarkets(18);
  const ann = await makeTrader();
  const once = { idempotencyKey: randomUUID(), requestFingerprint: randomUUID() };
  for (const market of markets) await rest(market, ann, buy("yes", 2, 10));
  const first = await piece(ann, once);
  t.is(first.body, null);
  t.is((await cancelAll(ann, once)).answer.cancelled, 18);
  const replay = await cancelAll(ann, once);
  t.true(replay.replayed);
  t.is(replay.answer.cancelled, 18);
});
