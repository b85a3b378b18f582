import { randomUUID } from "node:crypto";
import test from "ava";
import { previewResponseSchema } from "../../src/api/orders.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Answer, Trader } from "../helpers/http/test_service.ts";

/** POST /orders/preview. */

const service = testService(test);
const { call, makeMarket, makeTrader, operate } = service;

const preview = ({ key }: Trader, body: unknown): Promise<Answer> =>
  call("POST", "/api/v1/orders/preview", { key, body });
const place = ({ key }: Trader, body: unknown): Promise<Answer> =>
  call("POST", "/api/v1/orders", { key, body });

/** YES is sold at 60 and 61, ten shares each, and bought at 40. */
async function makeQuotedMarket() {
  const marketId = await makeMarket();
  const maker = await makeTrader();
  for (const [side, price] of [
    ["no", 40],
    ["no", 39],
    ["yes", 40],
  ]) {
    await place(maker, { marketId, side, price, quantity: 10 });
  }
  return { marketId, maker };
}

/** The fee of quantities at prices, by the default schedule: rounded up once. */
const feeOf = (...fills: [quantity: number, price: number][]) =>
  Math.ceil((700 * fills.reduce((sum, [n, p]) => sum + n * p * (100 - p), 0)) / 1_000_000);

test.serial("200: a buy that fills at two prices and rests, every field", async (t) => {
  const { marketId } = await makeQuotedMarket();
  const trader = await makeTrader();
  const body = { marketId, side: "yes", price: 61, quantity: 25 };
  const answer = await preview(trader, body);
  t.is(answer.status, 200);
  t.is(answer.headers.get("x-ratelimit-remaining"), null, "it is a read");
  const feeCents = feeOf([10, 60], [10, 61]);
  t.deepEqual(answer.body, {
    status: "partially_filled",
    fills: [
      { price: 60, quantity: 10 },
      { price: 61, quantity: 10 },
    ],
    filledQuantity: 20,
    averagePrice: 60.5,
    costCents: 1210,
    feeCents,
    restingQuantity: 5,
    balanceAfter: 1_000_000 - 1210 - feeCents,
    rejection: null,
  });
  t.notThrows(() => previewResponseSchema.parse(answer.body));
  // It is what placing the order does.
  const placed = (await place(trader, body)).body;
  t.like(answer.body, { status: placed.order.status, feeCents: placed.feeCents });
  t.is(answer.body.balanceAfter, placed.balance.total);
});

test.serial(
  "200: prices of fills are YES prices, the average is in the order's own side",
  async (t) => {
    const { marketId } = await makeQuotedMarket();
    const trader = await makeTrader();
    const { body } = await preview(trader, { marketId, side: "no", price: null, quantity: 4 });
    const feeCents = feeOf([4, 40]);
    t.deepEqual(body, {
      status: "filled",
      fills: [{ price: 40, quantity: 4 }],
      filledQuantity: 4,
      averagePrice: 60,
      costCents: 240,
      feeCents,
      restingQuantity: 0,
      balanceAfter: 1_000_000 - 240 - feeCents,
      rejection: null,
    });
  },
);

test.serial("200: a sale's cost is negative; a budget; an order that only rests", async (t) => {
  const { marketId } = await makeQuotedMarket();
  const trader = await makeTrader();
  await place(trader, { marketId, side: "yes", price: 60, quantity: 5 });
  const balance: number = (await call("GET", "/api/v1/me", { key: trader.key })).body.balance;
  const sale = { marketId, side: "yes", orderType: "sell", price: 40, quantity: 5 };
  const feeCents = feeOf([5, 40]);
  t.like((await preview(trader, sale)).body, {
    ...{ status: "filled", averagePrice: 40, costCents: -200, feeCents },
    balanceAfter: balance + 200 - feeCents,
  });
  const budget = (await preview(trader, { marketId, side: "yes", budgetCents: 130 })).body;
  t.like(budget, { status: "filled", filledQuantity: 2, costCents: 120, feeCents: feeOf([2, 60]) });
  t.deepEqual((await preview(trader, { marketId, side: "yes", price: 10, quantity: 7 })).body, {
    ...{ status: "open", fills: [], filledQuantity: 0, averagePrice: null, costCents: 0 },
    ...{ feeCents: 0, restingQuantity: 7, balanceAfter: balance, rejection: null },
  });
});

test.serial("200: scheduled, as the order would be on a live market", async (t) => {
  const about = { title: "A match", category: "tests" };
  const event_id = await operate("create_event", { ...about, live: true });
  const marketId = await operate("create_market", { ...about, event_id });
  const trader = await makeTrader();
  const { body } = await preview(trader, { marketId, side: "yes", price: 50, quantity: 10 });
  t.like(body, { status: "scheduled", fills: [], filledQuantity: 0, costCents: 0 });
  t.like(body, { balanceAfter: 1_000_000, rejection: null });
});

test.serial(
  "200: a rejection, with the status, message and code that the order would get",
  async (t) => {
    const { maker, marketId } = await makeQuotedMarket();
    const [trader, poor] = [await makeTrader(), await makeTrader({ fundsCents: 10 })];
    const unready = await makeTrader({ reviewed: false });
    const order = { marketId, side: "yes", price: 60, quantity: 10 };
    for (const [who, body, code] of [
      [maker, order, "SELF_TRADE_BLOCKED"],
      [trader, { ...order, postOnly: true }, "POST_ONLY_WOULD_CROSS"],
      [poor, order, "INSUFFICIENT_BALANCE"],
      [trader, { ...order, price: 50, timeInForce: "ioc" }, "INSUFFICIENT_LIQUIDITY"],
      [unready, order, "LIMITS_SETUP_REQUIRED"],
      [trader, { ...order, marketId: randomUUID() }, "MARKET_NOT_FOUND"],
    ] as const) {
      const answer = await preview(who, body);
      t.notThrows(() => previewResponseSchema.parse(answer.body));
      const placed = await place(who, body);
      t.is(answer.status, 200);
      t.deepEqual(answer.body.rejection, { status: placed.status, error: placed.body.error, code });
      t.is(answer.body.status, "rejected");
    }
  },
);

test.serial("nothing changes: no order, no cancel, no key, no version, no event", async (t) => {
  const { maker, marketId } = await makeQuotedMarket();
  const trader = await makeTrader();
  // The maker can't pay any more: a real order would cancel what it meets.
  const cents = (await call("GET", "/api/v1/me", { key: maker.key })).body.balance;
  await operate("withdraw", {
    ...{ user_id: maker.userId, amount_cents: cents, reference: "leaves" },
  });
  const readAll = async () => {
    const { rows } = await service.database.pool.query(
      `select
         (select jsonb_agg(to_jsonb(o) order by o.id) from trading.orders as o) as orders,
         (select jsonb_agg(to_jsonb(s) order by s.market_id) from trading.market_state as s)
           as states,
         (select count(*) from trading.idempotency_keys) as keys,
         (select count(*) from ledger.entries) as entries,
         (select last_value from trading.outbox_id_seq) as announced
       `,
    );
    return rows[0];
  };
  const before = await readAll();
  const idempotencyKey = randomUUID();
  const body = { marketId, side: "yes", price: 61, quantity: 5, idempotencyKey };
  for (let round = 0; round < 3; round++) {
    t.is((await preview(trader, body)).body.status, "open", "behind makers that can't pay");
  }
  t.deepEqual(await readAll(), before);
  t.is((await place(trader, body)).status, 201, "the key was not used");
});

test.serial("a malformed idempotencyKey is ignored", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader();
  for (const idempotencyKey of ["zz", 5, {}, null]) {
    const body = { marketId, side: "yes", price: 61, quantity: 5, idempotencyKey };
    const answer = await preview(trader, body);
    t.is(answer.status, 200);
    t.is(answer.body.status, "open");
  }
});

test.serial("400 INVALID_REQUEST: an order that is malformed", async (t) => {
  const answer = await preview(await makeTrader(), { side: "yes" });
  t.deepEqual([answer.status, answer.body.code], [400, "INVALID_REQUEST"]);
});
