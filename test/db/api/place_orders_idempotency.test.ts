import { randomUUID } from "node:crypto";
import test from "ava";
import { ALL_ORDERS } from "../../../src/database/calls.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, ioc, sell, shown, spend } from "../../helpers/exchange/orders.ts";
import type { Request } from "../../helpers/exchange/orders.ts";

/** A key stands for the first order accepted under it, for 24 hours. */

const exchange = testExchange(test);
const { balance, cancel, clock, makeMarket, makeMarketWith, makeTrader, operate } = exchange;
const { orders, place, placeBatch, refusal, rest, version } = exchange;

const newKey = () => ({ idempotencyKey: randomUUID() });

async function replay(market: string, trader: string, request: Request) {
  const [outcome] = await placeBatch(market, [[trader, request]]);
  if (!outcome!.replayed) throw new Error(`no replay: ${JSON.stringify(outcome)}`);
  return outcome!.answer!;
}

test("a replay returns the order and its fills, without a fee, and changes nothing", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 4, 41), buy("no", 4, 40));
  const request = buy("yes", 10, 60, newKey());
  const first = await place(market, bob, request);
  const before = await version(market);
  const again = await replay(market, bob, request);
  t.deepEqual(again, { ...first, feeCents: null });
  t.deepEqual(shown(again.fills), ["4 @ 59", "4 @ 60"]);
  t.is(await version(market), before);
  t.is((await orders(bob, { status: "all" })).data.length, 1);
});

test("a replay returns the order and the balance as they are now, and the fills of its placement", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 4, 40));
  const request = buy("yes", 10, 60, newKey());
  const first = await place(market, bob, request);
  await place(market, ann, buy("no", 5, 40));
  const afterFill = await replay(market, bob, request);
  t.like(afterFill.order, { status: "partially_filled", filledQuantity: 9 });
  t.deepEqual(afterFill.fills, first.fills);
  t.is(afterFill.balance.total, first.balance.total - 5 * 60);

  await cancel(bob, first.order.id);
  const afterCancel = await replay(market, bob, request);
  t.like(afterCancel.order, {
    status: "cancelled",
    cancelReason: "user_cancelled",
    filledQuantity: 9,
  });
});

test("a replay lists no cancelled orders, also if the first call cancelled some", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 4, 40));
  await operate("withdraw", { user_id: ann, amount_cents: 100_000, reference: "all" });
  const request = buy("yes", 10, 60, newKey());
  t.is((await place(market, bob, request)).cancelledOrders.length, 1);
  t.deepEqual((await replay(market, bob, request)).cancelledOrders, []);
});

test("a replay of an order that was filled at once", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 4, 40));
  for (const request of [buy("yes", 1, 60, { ...ioc, ...newKey() }), spend("yes", 130, newKey())]) {
    const first = await place(market, bob, request);
    t.is(first.order.status, "filled");
    t.deepEqual(await replay(market, bob, request), { ...first, feeCents: null });
  }
});

test("the same key with another body is still the first order", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const key = newKey();
  const [first] = await rest(market, ann, buy("yes", 10, 40, key));
  const { order } = await replay(market, ann, sell("no", 3, 70, key));
  t.like(order, { id: first, side: "yes", price: 40, quantity: 10, orderType: "buy" });
});

test("a replay has the version of its order's market, whatever market the second body names", async (t) => {
  const [market, other] = [await makeMarket(), await makeMarket()];
  const ann = await makeTrader();
  const key = newKey();
  await rest(market, ann, buy("yes", 10, 40, key), buy("yes", 10, 41));
  for (const marketId of [market, other, randomUUID()]) {
    const orders = [{ ...buy("no", 1, 2, key), userId: ann, marketId }];
    const [result] = await exchange.calls.runOrders({ ...ALL_ORDERS, orders });
    t.like(result, { code: null, replayed: true, marketVersion: await version(market) });
  }
});

test("a rejected request records no key: the key can be used again", async (t) => {
  const [market, ann] = await makeMarketWith(1, { cents: 100 });
  const request = buy("yes", 10, 40, newKey());
  t.is(await refusal(market, ann, request), "INSUFFICIENT_BALANCE");
  t.is(await refusal(market, ann, request), "INSUFFICIENT_BALANCE");
  await operate("deposit", { user_id: ann, amount_cents: 1000, reference: "more" });
  const { order } = await place(market, ann, request);
  t.is((await replay(market, ann, request)).order.id, order.id);
});

test("a request rejected for liquidity records no key, also if it cancelled makers", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, ann, buy("no", 4, 40));
  await operate("withdraw", { user_id: ann, amount_cents: 100_000, reference: "all" });
  const request = buy("yes", 4, 60, { ...ioc, ...newKey() });
  t.is(await refusal(market, bob, request), "INSUFFICIENT_LIQUIDITY");
  const cid = await makeTrader();
  await rest(market, cid, buy("no", 4, 40));
  t.is((await place(market, bob, request)).order.status, "filled");
});

test("keys belong to their user", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const request = buy("yes", 10, 40, newKey());
  const [anns] = await rest(market, ann, request);
  const [bobs] = await rest(market, bob, request);
  t.not(anns, bobs);
  const more = { ...request, idempotencyKey: randomUUID() };
  const outcomes = await placeBatch(market, [
    [ann, more],
    [bob, more],
  ]);
  t.deepEqual(
    outcomes.map(({ replayed, answer }) => [replayed, answer!.order.userId]),
    [
      [false, ann],
      [false, bob],
    ],
  );
});

test("the same key in another market is the order of the first", async (t) => {
  const [market, other] = await exchange.makeMarkets(2);
  const ann = await makeTrader();
  const request = buy("yes", 10, 40, newKey());
  const [first] = await rest(market, ann, request);
  const { order } = await replay(other, ann, request);
  t.like(order, { id: first, marketId: market });
  t.deepEqual((await exchange.book(other)).bids, []);
});

test("duplicates in one batch are one order", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await rest(market, bob, buy("no", 5, 50));
  const request = buy("yes", 10, 50, newKey());
  const outcomes = await placeBatch(market, [
    [ann, request],
    [ann, request],
    [ann, buy("yes", 1, 10)],
    [ann, { ...request, quantity: 3 }],
  ]);
  t.deepEqual(
    outcomes.map((outcome) => outcome.replayed),
    [false, true, false, true],
  );
  const first = outcomes[0]!.answer!;
  t.deepEqual(outcomes[1]!.answer, { ...first, feeCents: null });
  t.deepEqual(outcomes[3]!.answer, { ...first, feeCents: null });
  t.is((await orders(ann, { status: "all" })).data.length, 2);
  t.deepEqual(await replay(market, ann, request), { ...first, feeCents: null });
});

test("in one batch the key of a rejected request stands for the next request with it", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const key = newKey();
  const outcomes = await placeBatch(market, [
    [ann, buy("yes", 10_000, 99, key)],
    [ann, buy("yes", 10, 40, key)],
    [ann, buy("yes", 10, 41, key)],
  ]);
  t.deepEqual(
    outcomes.map(({ code, replayed }) => [code, replayed]),
    [
      ["INSUFFICIENT_BALANCE", false],
      [null, false],
      [null, true],
    ],
  );
  t.is(outcomes[2]!.answer!.order.id, outcomes[1]!.answer!.order.id);
});

test("a replay of an order that its own batch has just filled", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const old = buy("no", 10, 40, newKey());
  const [oldOrder] = await rest(market, ann, old);
  const recent = buy("no", 10, 39, newKey());
  const outcomes = await placeBatch(market, [
    [ann, recent],
    [ann, old],
    [bob, buy("yes", 4, 60)],
    [ann, old],
    [bob, buy("yes", 9, 61)],
    [ann, old],
    [ann, recent],
  ]);
  const seen = (index: number) => {
    const { order, balance: money } = outcomes[index]!.answer!;
    return [order.status, order.filledQuantity, money.total];
  };
  t.deepEqual(seen(1), ["open", 0, 100_000]);
  t.deepEqual(seen(3), ["partially_filled", 4, 100_000 - 160]);
  t.deepEqual(seen(5), ["filled", 10, 100_000 - 400 - 3 * 39]);
  t.deepEqual(seen(6), ["partially_filled", 3, 100_000 - 400 - 3 * 39]);
  t.is(outcomes[5]!.answer!.order.id, oldOrder);
  t.deepEqual(outcomes[5]!.answer!.fills, []);
});

test("a replay of an order that its own batch has just cancelled", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const request = buy("no", 10, 40, newKey());
  await rest(market, ann, request);
  await operate("withdraw", { user_id: ann, amount_cents: 99_999, reference: "out" });
  const outcomes = await placeBatch(market, [
    [bob, buy("yes", 4, 60)],
    [ann, request],
  ]);
  t.like(outcomes[1], { replayed: true });
  t.like(outcomes[1]!.answer!.order, {
    status: "cancelled",
    cancelReason: "insufficient_funds",
    filledQuantity: 0,
  });
});

test("a malformed repetition in the same call does not free the key", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const key = newKey();
  const outcomes = await placeBatch(market, [
    [ann, buy("yes", 10, 40, key)],
    [ann, buy("yes", 0, 40, key)],
    [ann, buy("yes", 10, 41, key)],
  ]);
  t.deepEqual(
    outcomes.map(({ code, replayed }) => [code, replayed]),
    [
      [null, false],
      ["INVALID_REQUEST", false],
      [null, true],
    ],
  );
  const { data } = await orders(ann, { status: "all" });
  t.deepEqual(
    data.map(({ id, price }) => [id, price]),
    [[outcomes[2]!.answer!.order.id, 40]],
  );
});

test.serial("a key counts for 24 hours and is then free for another order", async (t) => {
  await clock.freeze("2040-01-01T00:00:00Z");
  const [market, ann] = await makeMarketWith(1);
  const request = buy("yes", 10, 40, newKey());
  const [first] = await rest(market, ann, request);
  await clock.freeze("2040-01-01T23:59:59.999Z");
  t.is((await replay(market, ann, request)).order.id, first);
  // A replay does not prolong it.
  await clock.freeze("2040-01-02T00:00:00.000Z");
  const [second] = await rest(market, ann, request);
  t.not(second, first);
  await clock.freeze("2040-01-02T23:59:59.999Z");
  t.is((await replay(market, ann, request)).order.id, second);
  t.is(await balance(ann), 100_000);
  await clock.release();
});

test.serial(
  "in a batch, a key of the day before is for the first order that is accepted",
  async (t) => {
    await clock.freeze("2040-02-01T00:00:00Z");
    const [market, ann, bob] = await makeMarketWith(2);
    const [old, other] = [newKey(), newKey()];
    await rest(market, ann, buy("yes", 10, 40, old), buy("yes", 10, 40, other));
    await clock.freeze("2040-02-02T00:00:00Z");
    const outcomes = await placeBatch(market, [
      [ann, buy("yes", 10_000, 39, old)],
      [bob, buy("yes", 1, 38, old)],
      [ann, buy("yes", 2, 37, old)],
      [ann, buy("yes", 3, 36, old)],
      // Nothing is accepted with this key, so it stays as it was.
      [ann, buy("yes", 10_000, 35, other)],
    ]);
    t.deepEqual(
      outcomes.map(({ code, replayed, answer }) => [code, replayed, answer?.order.quantity]),
      [
        ["INSUFFICIENT_BALANCE", false, undefined],
        [null, false, 1],
        [null, false, 2],
        [null, true, 2],
        ["INSUFFICIENT_BALANCE", false, undefined],
      ],
    );
    t.is((await replay(market, ann, buy("yes", 3, 36, old))).order.quantity, 2);
    t.is((await replay(market, bob, buy("yes", 1, 38, old))).order.quantity, 1);
    const [taken] = await rest(market, ann, buy("yes", 4, 34, other));
    t.is((await replay(market, ann, buy("yes", 4, 34, other))).order.id, taken);
    await clock.release();
  },
);
