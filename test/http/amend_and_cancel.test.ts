import test from "ava";
import { cancelBatchResponseSchema } from "../../src/api/order_batches.ts";
import { amendOrderResponseSchema, placeOrderResponseSchema } from "../../src/api/orders.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Answer, Trader } from "../helpers/http/test_service.ts";

/** PATCH /orders/:id, POST /orders/cancel-batch, and what a live market answers. */

const service = testService(test);
const { call, makeMarket, makeTrader, operate } = service;

const noSuchId = "01900000-0000-7000-8000-000000000000";

const place = (trader: Trader, body: unknown): Promise<Answer> =>
  call("POST", "/api/v1/orders", { key: trader.key, body });

const amend = (trader: Trader, id: string, body: unknown): Promise<Answer> =>
  call("PATCH", `/api/v1/orders/${id}`, { key: trader.key, body });

const cancelBatch = (trader: Trader, body: unknown): Promise<Answer> =>
  call("POST", "/api/v1/orders/cancel-batch", { key: trader.key, body });

async function rest(trader: Trader, marketId: string, price = 40): Promise<string> {
  const answer = await place(trader, { marketId, side: "yes", price, quantity: 10 });
  return answer.body.order.id;
}

test("200: amended in place, unchanged, replaced", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader();
  const id = await rest(trader, marketId);

  const smaller = await amend(trader, id, { quantity: 8 });
  t.is(smaller.status, 200);
  t.notThrows(() => amendOrderResponseSchema.parse(smaller.body));
  t.like(smaller.body, { amended: true, queuePositionChanged: false });
  t.false("timeInForce" in smaller.body.order);

  const same = await amend(trader, id, { quantity: 8, price: null });
  t.is(same.status, 200);
  t.like(same.body, { amended: false, queuePositionChanged: false });

  const moved = await amend(trader, id, { price: 45 });
  t.is(moved.status, 200);
  t.notThrows(() => amendOrderResponseSchema.parse(moved.body));
  t.like(moved.body, {
    amended: true,
    queuePositionChanged: true,
    cancelledOrderId: id,
    feeCents: 0,
    fills: [],
  });
});

test("400 ORDER_NOT_AMENDABLE, BELOW_FILLED; 404 ORDER_NOT_FOUND", async (t) => {
  const marketId = await makeMarket();
  const [trader, other] = [await makeTrader(), await makeTrader()];
  const id = await rest(trader, marketId);
  await place(other, { marketId, side: "no", price: 60, quantity: 5 });

  const below = await amend(trader, id, { quantity: 5 });
  t.deepEqual([below.status, below.body.code], [400, "BELOW_FILLED"]);

  for (const [who, which] of [
    [other, id],
    [trader, noSuchId],
  ] as const) {
    const answer = await amend(who, which, { quantity: 6 });
    t.deepEqual([answer.status, answer.body], [404, { error: "Order not found" }]);
  }

  await call("DELETE", `/api/v1/orders/${id}`, { key: trader.key });
  const gone = await amend(trader, id, { quantity: 6 });
  t.deepEqual(
    [gone.status, gone.body],
    [400, { error: "Cannot amend order with status: cancelled" }],
  );
});

test("400 INVALID_REQUEST: an amendment of nothing or out of bounds; 400: no UUID", async (t) => {
  const trader = await makeTrader();
  const id = await rest(trader, await makeMarket());
  for (const body of [{}, { price: 100 }, { quantity: 1.5 }, { price: "40" }, []]) {
    const answer = await amend(trader, id, body);
    t.deepEqual([answer.status, answer.body.code], [400, "INVALID_REQUEST"], JSON.stringify(body));
  }
  const { body } = await amend(trader, id, { price: null });
  t.deepEqual(body.issues, [{ path: "price", message: "required without quantity" }]);
  const answer = await amend(trader, "nonsense", { quantity: 5 });
  t.deepEqual([answer.status, answer.body], [400, { error: "Invalid id" }]);
});

test("a live market: 201 scheduled; a budget order cannot be amended", async (t) => {
  const event_id = await operate("create_event", { title: "Now", category: "tests", live: true });
  const marketId = await operate("create_market", {
    title: "Live",
    category: "tests",
    event_id,
  });
  const trader = await makeTrader();
  const answer = await place(trader, { marketId, side: "yes", budgetCents: 500 });
  t.is(answer.status, 201);
  t.notThrows(() => placeOrderResponseSchema.parse(answer.body));
  t.like(answer.body, {
    fills: [],
    feeCents: null,
    balance: { total: 1_000_000, available: 1_000_000 },
  });
  t.like(answer.body.order, { status: "scheduled", quantity: 0, budgetCents: 500 });
  t.is(typeof answer.body.order.releaseInMs, "number");
  const refused = await amend(trader, answer.body.order.id, { quantity: 5 });
  t.deepEqual(
    [refused.status, refused.body],
    [400, { error: "Cannot amend a budget order; cancel it and place a new one" }],
  );
});

test("cancel-batch: 200 with the cancelled orders, the failed ids and the balance", async (t) => {
  const marketId = await makeMarket();
  const [trader, other] = [await makeTrader(), await makeTrader()];
  const first = await rest(trader, marketId);
  const second = await rest(trader, marketId, 41);
  const gone = await rest(trader, marketId, 42);
  const another = await rest(other, marketId, 43);
  await call("DELETE", `/api/v1/orders/${gone}`, { key: trader.key });

  const answer = await cancelBatch(trader, {
    orderIds: [second, noSuchId, first, first.toUpperCase(), gone, another, second],
  });
  t.is(answer.status, 200);
  t.notThrows(() => cancelBatchResponseSchema.parse(answer.body));
  t.deepEqual(
    answer.body.cancelled.map(({ id, status, cancelReason }: any) => [id, status, cancelReason]),
    [second, first].map((id) => [id, "cancelled", "user_cancelled"]),
  );
  t.deepEqual(answer.body.failures, [
    { orderId: noSuchId, code: "not_found" },
    { orderId: gone, code: "not_cancellable" },
    { orderId: another, code: "not_found" },
  ]);
  t.deepEqual(answer.body.balance, { total: 1_000_000, available: 1_000_000 });
});

test("cancel-batch: 200 even when every id fails", async (t) => {
  const trader = await makeTrader();
  const answer = await cancelBatch(trader, { orderIds: [noSuchId] });
  t.is(answer.status, 200);
  t.deepEqual(answer.body.cancelled, []);
  t.is(answer.body.failures.length, 1);
});

test("cancel-batch: 400 INVALID_REQUEST for 0 and 101 ids, and for malformed ids", async (t) => {
  const trader = await makeTrader();
  const tooMany = Array.from({ length: 101 }, () => noSuchId);
  for (const body of [{ orderIds: [] }, { orderIds: tooMany }, { orderIds: ["x"] }, {}]) {
    const answer = await cancelBatch(trader, body);
    t.deepEqual([answer.status, answer.body.code], [400, "INVALID_REQUEST"]);
  }
  t.is((await cancelBatch(trader, { orderIds: tooMany.slice(1) })).status, 200);
});
