import { randomUUID } from "node:crypto";
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

// POST /orders/cancel-all and the dead man's switch.

const orders = "/api/v1/orders";

const openOrders = async ({ key }: Trader): Promise<number> =>
  (await call("GET", orders, { key })).body.data.length;

test("cancel-all: of all markets or of one, with a body or without", async (t) => {
  const [one, two] = [await makeMarket(), await makeMarket()];
  const ann = await makeTrader();
  const { key } = ann;
  for (const price of [10, 11]) for (const market of [one, two]) await rest(ann, market, price);
  const first = await call("POST", `${orders}/cancel-all`, { key, body: { marketId: one } });
  t.is(first.status, 200);
  t.deepEqual(first.body, { cancelled: 2, balance: { total: 1_000_000, available: 1_000_000 } });
  t.is(await openOrders(ann), 2);
  const second = await call("POST", `${orders}/cancel-all`, { key });
  t.is(second.status, 200);
  t.is(second.body.cancelled, 2);
  t.is(await openOrders(ann), 0);
});

test("400: cancel-all of an unknown market or of a malformed one cancels nothing", async (t) => {
  const ann = await makeTrader();
  await rest(ann, await makeMarket(), 10);
  for (const marketId of ["x", 1, randomUUID()]) {
    const { status } = await call("POST", `${orders}/cancel-all`, {
      ...{ key: ann.key, body: { marketId } },
    });
    t.is(status, 400);
  }
  t.is(await openOrders(ann), 1);
});

test("the dead man's switch: set, read, turned off, and 400 for other times", async (t) => {
  const { key } = await makeTrader();
  const path = `${orders}/dead-man`;
  t.deepEqual((await call("GET", path, { key })).body, { expiresAt: null });
  const before = Date.now();
  const set = await call("PUT", path, { key, body: { timeoutMs: 300_000 } });
  t.is(set.status, 200);
  t.deepEqual(Object.keys(set.body), ["expiresAt"]);
  const ms = Date.parse(set.body.expiresAt) - before;
  t.true(ms >= 300_000 && ms < 330_000);
  t.deepEqual((await call("GET", path, { key })).body, set.body);
  for (const timeoutMs of [1, 999, 300_001, -1, 1000.5, "1000", null]) {
    t.is((await call("PUT", path, { key, body: { timeoutMs } })).status, 400);
  }
  t.deepEqual((await call("GET", path, { key })).body, set.body);
  t.deepEqual((await call("PUT", path, { key, body: { timeoutMs: 0 } })).body, { expiresAt: null });
});

test("409 DEAD_MAN_FIRED: late, with orders that no worker has cancelled; then it is told", async (t) => {
  const ann = await makeTrader();
  const { key } = ann;
  const path = `${orders}/dead-man`;
  await rest(ann, await makeMarket(), 10);
  await call("PUT", path, { key, body: { timeoutMs: 1000 } });
  const { rows } = await service.database.pool.query<{ at: string }>(
    `update trading.dead_man_switches as s set expires_at = core.now()
     from trading.traders as u where u.user_id = s.user_id and u.public_id = $1
     returning core.iso8601(s.expires_at) as at`,
    [ann.userId],
  );
  const late = await call("PUT", path, { key, body: { timeoutMs: 1000 } });
  t.is(late.status, 409);
  t.is(late.body.code, "DEAD_MAN_FIRED");
  await call("POST", `${orders}/cancel-all`, { key });
  const anew = await call("PUT", path, { key, body: { timeoutMs: 0 } });
  t.is(anew.status, 200);
  t.is(anew.headers.get("dead-man-fired"), rows[0]!.at);
  const other = await makeTrader();
  const off = await call("PUT", path, { key: other.key, body: { timeoutMs: 0 } });
  t.is(off.headers.get("dead-man-fired"), null);
});
