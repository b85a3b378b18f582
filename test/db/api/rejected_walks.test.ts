import { randomUUID } from "node:crypto";
import test from "ava";
import { ALL_ORDERS } from "../../../src/database/calls.ts";
import type { OrderRequest } from "../../../src/database/calls.ts";
import { buy, codesOf, idsOf, ioc } from "../../helpers/exchange/orders.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/**
 * Orders that meet many makers and are rejected: a call has a bounded number of them. Each order here
 * is short of cash for its last share, which nobody knows before it has met the others.
 */

const exchange = testExchange(test);
const { balance, makeMarkets, makeTrader, makeTraders, operate, rest } = exchange;

/** A market with so many one-share orders, and one where nothing rests. */
async function makeBook(length: number) {
  const [deep, empty] = await makeMarkets(2);
  const maker = await makeTrader({ cents: 50 * length });
  await rest(deep, maker, ...Array.from({ length }, () => buy("no", 1, 50)));
  return { deep, empty };
}

const orderOf = (userId: string, marketId: string, quantity: number): OrderRequest => ({
  ...{ userId, marketId },
  ...buy("yes", quantity, 50, ioc),
});

const run = (orders: OrderRequest[], more: object = {}) =>
  exchange.calls.runOrders({ ...ALL_ORDERS, orders, ...more });

test("once rejected orders have met 500 makers, later ones of that market wait for another call", async (t) => {
  for (const [length, codes] of [
    [
      300,
      ["INSUFFICIENT_BALANCE", "INSUFFICIENT_BALANCE", "CONFLICT_RETRY", "CONFLICT_RETRY", null],
    ],
    [501, ["INSUFFICIENT_BALANCE", "CONFLICT_RETRY", "CONFLICT_RETRY", "CONFLICT_RETRY", null]],
  ] as const) {
    const { deep, empty } = await makeBook(length);
    const poor = await makeTraders(2, { cents: 50 * length - 1 });
    const rich = await makeTrader();
    const walks = [0, 1, 0].map((place) => orderOf(poor[place]!, deep, length));
    const elsewhere = { ...orderOf(rich, empty, 1), timeInForce: "gtc" } as const;
    const results = await run([...walks, orderOf(rich, deep, 1), elsewhere]);
    t.deepEqual(codesOf(results), codes, `${length} makers`);
    for (const trader of poor) t.is(await balance(trader), 50 * length - 1);
    const [again] = await run([orderOf(rich, deep, 1)]);
    t.is(again?.code, null, "in another call it is filled");
  }
});

test("a batch with a key keeps the answer that its later orders were not placed", async (t) => {
  const { deep, empty } = await makeBook(501);
  // A maker in front of the others that has lost its cash.
  const [dead, userId] = await makeTraders(2, { cents: 50 * 501 - 1 });
  const [deadOrder] = await rest(deep, dead, buy("no", 1, 52));
  await operate("withdraw", { user_id: dead, amount_cents: 50 * 501 - 1, reference: "all" });
  const resting = (marketId: string, price: number) => ({
    ...orderOf(userId, marketId, 1),
    ...{ price, timeInForce: "gtc" as const },
  });
  const orders = [
    ...[resting(deep, 48), orderOf(userId, deep, 501)],
    ...[orderOf(userId, deep, 1), resting(empty, 50)],
  ];
  const key = { idempotencyKey: randomUUID(), requestFingerprint: randomUUID() };
  const send = async () => (await run(orders, { userId, ...key }))[0]!;
  const first = await send();
  const { results } = JSON.parse(first.body) as {
    results: { code: string | null; body: string | null }[];
  };
  t.deepEqual(codesOf(results), [null, "INSUFFICIENT_BALANCE", "CONFLICT_RETRY", null]);
  const { cancelledOrders } = JSON.parse(results[0]!.body!) as {
    cancelledOrders: { id: string }[];
  };
  t.deepEqual(idsOf(cancelledOrders), [deadOrder]);
  const second = await send();
  t.deepEqual([second.replayed, second.body], [true, first.body]);
});
