import { once } from "node:events";
import { connect } from "node:net";
import test from "ava";
import {
  cancelOrderResponseSchema,
  listOrdersResponseSchema,
  placeOrderResponseSchema,
} from "../../src/api/orders.ts";
import { orderDetailSchema } from "../../src/api/order_schemas.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Answer, Trader } from "../helpers/http/test_service.ts";

const service = testService(test);
const { call, makeMarket, makeTrader, operate } = service;

const noSuchId = "01900000-0000-7000-8000-000000000000";

/** Of requests that are refused before anything is looked at. */
let anybody: Trader;

test.serial.before("make a trader", async () => {
  anybody = await makeTrader();
});

const place = (trader: Trader, body: unknown, headers = {}): Promise<Answer> =>
  call("POST", "/api/v1/orders", { key: trader.key, body, headers });

/** A market with a trader who sells 100 YES at 60 and buys 100 at 40. */
async function makeQuotedMarket() {
  const marketId = await makeMarket();
  const maker = await makeTrader();
  for (const body of [
    { marketId, side: "no", price: 40, quantity: 100 },
    { marketId, side: "yes", price: 40, quantity: 100 },
  ]) {
    const { status } = await place(maker, body);
    if (status !== 201) throw new Error(`the maker's order got ${status}`);
  }
  return { marketId, maker };
}

test("201: an order that rests", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader();
  const answer = await place(trader, { marketId, side: "yes", price: 40, quantity: 10 });
  t.is(answer.status, 201);
  t.is(answer.headers.get("content-type"), "application/json; charset=utf-8");
  t.is(answer.headers.get("cache-control"), "no-store");
  t.is(answer.headers.get("idempotency-replayed"), null);
  t.is(answer.headers.get("etag"), null);
  t.is(answer.headers.get("x-powered-by"), null);
  t.notThrows(() => placeOrderResponseSchema.parse(answer.body));
  t.like(answer.body, {
    order: {
      userId: trader.userId,
      marketId,
      side: "yes",
      price: 40,
      quantity: 10,
      filledQuantity: 0,
      status: "open",
      orderType: "buy",
      timeInForce: "gtc",
      cancelReason: null,
      expiresAt: null,
    },
    fills: [],
    cancelledOrders: [],
    balance: { total: 1_000_000, available: 1_000_000 },
    feeCents: 0,
  });
});

test("201: an order that fills", async (t) => {
  const { marketId, maker } = await makeQuotedMarket();
  const trader = await makeTrader();
  const answer = await place(trader, { marketId, side: "yes", price: 65, quantity: 10 });
  t.is(answer.status, 201);
  t.notThrows(() => placeOrderResponseSchema.parse(answer.body));
  t.like(answer.body.order, { status: "filled", filledQuantity: 10 });
  t.is(answer.body.fills.length, 1);
  t.like(answer.body.fills[0], {
    marketId,
    price: 60,
    quantity: 10,
    buyOrderId: answer.body.order.id,
    buyerId: trader.userId,
    sellerId: maker.userId,
  });
  t.is(answer.body.balance.total, 1_000_000 - 600 - answer.body.feeCents);
});

test("201: a market order, a budget, a sell, null for what may be absent", async (t) => {
  const { marketId } = await makeQuotedMarket();
  const trader = await makeTrader();
  const market = await place(trader, { marketId, side: "yes", price: null, quantity: 5 });
  t.like(market, { status: 201, body: { order: { price: 99, timeInForce: "ioc" } } });
  const budget = await place(trader, { marketId, side: "yes", budgetCents: 1000 });
  t.is(budget.status, 201);
  t.true(budget.body.order.quantity > 0);
  const sell = await place(trader, { marketId, side: "yes", orderType: "sell", quantity: 5 });
  t.like(sell, { status: 201, body: { order: { price: 1, orderType: "sell" } } });
  const nulls = await place(trader, {
    marketId: marketId.toUpperCase(),
    side: "yes",
    price: 10,
    quantity: 1,
    budgetCents: null,
    orderType: null,
    timeInForce: null,
    idempotencyKey: null,
    expiresAt: null,
    postOnly: null,
    note: "unknown fields are ignored",
  });
  t.is(nulls.status, 201);
  for (const answer of [market, budget, sell, nulls]) {
    t.notThrows(() => placeOrderResponseSchema.parse(answer.body));
  }
});

const sound = { side: "yes", price: 50, quantity: 10 };

for (const [fault, body, path, message] of [
  ["no object", [], "", "The body must be a JSON object"],
  ["no market", { marketId: undefined }, "marketId", "required"],
  ["a market that is no UUID", { marketId: "1" }, "marketId", "must be a UUID"],
  ["no side", { side: undefined }, "side", "required"],
  ["another side", { side: "maybe" }, "side", "must be one of yes, no"],
  ["a null side", { side: null }, "side", "must be one of yes, no"],
  ["price 0", { price: 0 }, "price", "must be at least 1"],
  ["price 100", { price: 100 }, "price", "must be at most 99"],
  ["price 50.5", { price: 50.5 }, "price", "must be an integer"],
  ["price as text", { price: "50" }, "price", "must be an integer"],
  ["quantity 0", { quantity: 0 }, "quantity", "must be at least 1"],
  ["quantity 10001", { quantity: 10_001 }, "quantity", "must be at most 10000"],
  ["no quantity", { quantity: undefined }, "quantity", "required without budgetCents"],
  [
    "a buy without a price",
    { price: undefined },
    "price",
    "required without budgetCents; null places a market order",
  ],
  ["quantity and budget", { budgetCents: 100 }, "budgetCents", "excludes quantity"],
  [
    "budget 1000001",
    { quantity: undefined, budgetCents: 1_000_001 },
    "budgetCents",
    "must be at most 1000000",
  ],
  ["a sell by budget", { orderType: "sell", budgetCents: 100 }, "budgetCents", "not for a sell"],
  [
    "a sell without quantity",
    { orderType: "sell", quantity: undefined },
    "quantity",
    "required for a sell",
  ],
  ["another order type", { orderType: "short" }, "orderType", "must be one of buy, sell"],
  ["another time in force", { timeInForce: "day" }, "timeInForce", "must be one of gtc, ioc, fok"],
  [
    "an idempotency key that is no UUID",
    { idempotencyKey: "a" },
    "idempotencyKey",
    "must be a UUID",
  ],
  [
    "an expiry without a zone",
    { expiresAt: "2999-01-01T00:00:00" },
    "expiresAt",
    "must be an ISO 8601 date and time with seconds and a time zone",
  ],
  [
    "an expiry without seconds",
    { expiresAt: "2999-01-01T00:00Z" },
    "expiresAt",
    "must be an ISO 8601 date and time with seconds and a time zone",
  ],
  [
    "an expiry on no date",
    { expiresAt: "2999-02-30T00:00:00Z" },
    "expiresAt",
    "must be an ISO 8601 date and time with seconds and a time zone",
  ],
  [
    "an expiry in no year",
    { expiresAt: "0000-01-01T00:00:00Z" },
    "expiresAt",
    "must be between the years 1 and 9999",
  ],
  [
    "post-only ioc",
    { postOnly: true, timeInForce: "ioc" },
    "postOnly",
    "needs a price and gtc, and no budgetCents",
  ],
  [
    "post-only budget",
    { postOnly: true, quantity: undefined, budgetCents: 100 },
    "postOnly",
    "needs a price and gtc, and no budgetCents",
  ],
  [
    "post-only market order",
    { postOnly: true, price: null },
    "postOnly",
    "needs a price and gtc, and no budgetCents",
  ],
  ["post-only as text", { postOnly: "true" }, "postOnly", "must be a boolean"],
] as const) {
  test(`400 INVALID_REQUEST: ${fault}`, async (t) => {
    const whole = body instanceof Array ? body : { marketId: noSuchId, ...sound, ...body };
    const answer = await place(anybody, whole);
    t.is(answer.status, 400);
    t.deepEqual(answer.body, {
      error: path === "" ? message : `${path}: ${message}`,
      code: "INVALID_REQUEST",
      issues: [{ path, message }],
    });
  });
}

test("400 INVALID_REQUEST: all errors are reported together", async (t) => {
  const trader = await makeTrader();
  for (const [body, paths] of [
    [{ side: "up", price: 0 }, ["marketId", "side", "price"]],
    [undefined, ["marketId", "side"]],
  ] as const) {
    const answer = await place(trader, body);
    t.is(answer.status, 400);
    t.deepEqual(
      answer.body.issues.map((issue: { path: string }) => issue.path),
      paths,
    );
  }
});

test("400 INVALID_REQUEST: an expiry in the past, in any time zone", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader();
  for (const expiresAt of ["2020-01-01T00:00:00Z", "0001-01-01T00:00:00+00:00"]) {
    const answer = await place(trader, { marketId, ...sound, expiresAt });
    t.is(answer.status, 400);
    t.is(answer.body.code, "INVALID_REQUEST");
    t.is(answer.body.issues[0].path, "expiresAt");
  }
  const far = await place(trader, { marketId, ...sound, expiresAt: "2999-01-01T00:30:00+23:00" });
  t.is(far.status, 201);
  t.is(far.body.order.expiresAt, "2998-12-31T01:30:00.000Z");
});

for (const [name, body] of [
  ["cut off", '{"marketId":'],
  ["a word", "order"],
  ["a string", '"order"'],
  ["no UTF-8", "\xff\xfe"],
] as const) {
  test(`400 INVALID_REQUEST: a body that is no JSON: ${name}`, async (t) => {
    const answer = await place(anybody, body);
    t.is(answer.status, 400);
    t.deepEqual(answer.body, {
      error: "The body must be a JSON object, in UTF-8",
      code: "INVALID_REQUEST",
      issues: [{ path: "", message: "The body must be a JSON object, in UTF-8" }],
    });
  });
}

test("400 INVALID_REQUEST: JSON in another encoding, or with bytes that are none", async (t) => {
  const { key } = await makeTrader();
  const order = JSON.stringify({ marketId: await makeMarket(), ...sound });
  const utf16 = Buffer.from(order, "utf16le");
  const broken = Buffer.concat([
    Buffer.from(order.replace("}", ',"note":"')),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"}'),
  ]);
  for (const [charset, body] of [
    ["utf-16le", utf16],
    ["utf-8", broken],
  ] as const) {
    const headers = {
      Authorization: `Bearer ${key}`,
      "Content-Type": `application/json; charset=${charset}`,
    };
    const answer = await fetch(`${service.url}/api/v1/orders`, { method: "POST", headers, body });
    t.is(answer.status, 400, charset);
    t.is(answer.headers.get("x-error-code"), "INVALID_REQUEST", charset);
  }
});

test("JSON is read with any content type, but not if it is compressed", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader();
  const form = { "content-type": "application/x-www-form-urlencoded" };
  t.is((await place(trader, { marketId, ...sound }, form)).status, 201);
  const zipped = await place(trader, { marketId, ...sound }, { "content-encoding": "gzip" });
  t.is(zipped.status, 400);
  t.is(zipped.body.code, "INVALID_REQUEST");
});

test("413: a body over 64 KiB; one of 64 KiB is read", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader();
  const bare = JSON.stringify({ marketId, ...sound, note: "" }).length;
  const ofBytes = (bytes: number) => ({ marketId, ...sound, note: "x".repeat(bytes - bare) });
  t.is((await place(trader, ofBytes(65_536))).status, 201);
  const answer = await place(trader, ofBytes(65_537));
  t.is(answer.status, 413);
  t.deepEqual(answer.body, { error: "The body is larger than 64 KiB" });
});

test("413: a body that is too large is answered before it has come", async (t) => {
  const { key } = await makeTrader();
  const { hostname, port } = new URL(service.url);
  const begin = (length: string) =>
    `POST /api/v1/orders HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n${length}\r\n\r\n`;
  for (const sent of [
    begin("Content-Length: 99999999999"),
    `${begin("Transfer-Encoding: chunked")}20000\r\n${"x".repeat(70_000)}`,
  ]) {
    const socket = connect(Number(port), hostname);
    socket.write(sent);
    const [answer] = await once(socket, "data");
    t.regex(String(answer), /^HTTP\/1.1 413 /);
    socket.destroy();
  }
});

test("400 MARKET_NOT_FOUND", async (t) => {
  const answer = await place(await makeTrader(), { marketId: noSuchId, ...sound });
  t.like(answer, { status: 400 });
  t.deepEqual(answer.body, { error: "Market not found" });
});

test("400 MARKET_NOT_OPEN", async (t) => {
  const marketId = await makeMarket();
  await operate("set_market_status", { market_id: marketId, status: "paused" });
  const answer = await place(await makeTrader(), { marketId, ...sound });
  t.is(answer.status, 400);
  t.deepEqual(answer.body, { error: "Market is not open for trading" });
});

test("400 SELF_TRADE_BLOCKED, POST_ONLY_WOULD_CROSS, INSUFFICIENT_LIQUIDITY", async (t) => {
  const { marketId, maker } = await makeQuotedMarket();
  const trader = await makeTrader();
  const selfTrade = await place(maker, { marketId, side: "yes", price: 60, quantity: 1 });
  t.is(selfTrade.status, 400);
  t.deepEqual(selfTrade.body, {
    error: "Order would match your own resting order",
    code: "SELF_TRADE_BLOCKED",
  });
  const crossing = { marketId, side: "yes", price: 60, quantity: 1 };
  const postOnly = await place(trader, { ...crossing, postOnly: true });
  t.is(postOnly.status, 400);
  t.is(postOnly.body.code, "POST_ONLY_WOULD_CROSS");
  const thin = await place(trader, { ...crossing, price: 50, timeInForce: "ioc" });
  t.is(thin.status, 400);
  t.is(thin.body.code, "INSUFFICIENT_LIQUIDITY");
});

test("400 INSUFFICIENT_BALANCE: cash and position", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader({ fundsCents: 100 });
  const buy = await place(trader, { marketId, ...sound });
  t.like(buy, { status: 400, body: { code: "INSUFFICIENT_BALANCE" } });
  const sell = await place(trader, { marketId, ...sound, orderType: "sell" });
  t.like(sell, { status: 400, body: { code: "INSUFFICIENT_BALANCE" } });
});

test("403 SELF_EXCLUDED: placing is refused, reading and cancelling are not", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader();
  const { body } = await place(trader, { marketId, ...sound });
  await operate("self_exclude", { user_id: trader.userId });
  const answer = await place(trader, { marketId, ...sound });
  t.is(answer.status, 403);
  t.is(answer.body.code, "SELF_EXCLUDED");
  const order = await call("GET", `/api/v1/orders/${body.order.id}`, { key: trader.key });
  t.like(order, { status: 200, body: { status: "cancelled", cancelReason: "self_excluded" } });
});

test("403 ACCOUNT_FROZEN: POST and PATCH are refused; reading and cancelling are not", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader();
  const { body } = await place(trader, { marketId, ...sound });
  const path = `/api/v1/orders/${body.order.id}`;
  const why = { reason: "fraud check", cancel_orders: false };
  await operate("freeze_user", { user_id: trader.userId, ...why });
  const refused = { error: "Account is frozen", code: "ACCOUNT_FROZEN" };
  const posted = await place(trader, { marketId, ...sound });
  t.deepEqual([posted.status, posted.body], [403, refused]);
  const patched = await call("PATCH", path, { key: trader.key, body: { price: 1 } });
  t.deepEqual([patched.status, patched.body], [403, refused]);
  t.is((await call("GET", path, { key: trader.key })).body.status, "open");
  t.is((await call("DELETE", path, { key: trader.key })).status, 200);
});

test("400 INVALID_REQUEST before the gates: an expiresAt in the past", async (t) => {
  const trader = await makeTrader();
  await operate("self_exclude", { user_id: trader.userId });
  const marketId = await makeMarket();
  const answer = await place(trader, { marketId, ...sound, expiresAt: "2020-01-01T00:00:00Z" });
  t.is(answer.status, 400);
  t.deepEqual(answer.body, {
    error: "expiresAt: must be in the future",
    code: "INVALID_REQUEST",
    issues: [{ path: "expiresAt", message: "must be in the future" }],
  });
});

test("422 LOSS_LIMIT", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader({ reviewed: false });
  const limits = { day_cents: 400, week_cents: null, month_cents: null };
  await operate("set_loss_limits", { user_id: trader.userId, ...limits, immediate: true });
  const answer = await place(trader, { marketId, ...sound });
  t.is(answer.status, 422);
  t.is(answer.body.code, "LOSS_LIMIT");
});

test("428 LIMITS_SETUP_REQUIRED", async (t) => {
  const trader = await makeTrader({ reviewed: false });
  const answer = await place(trader, { marketId: await makeMarket(), ...sound });
  t.is(answer.status, 428);
  t.is(answer.body.code, "LIMITS_SETUP_REQUIRED");
});

test("200: cancelling", async (t) => {
  const marketId = await makeMarket();
  const trader = await makeTrader();
  const { body } = await place(trader, { marketId, ...sound });
  const answer = await call("DELETE", `/api/v1/orders/${body.order.id}`, { key: trader.key });
  t.is(answer.status, 200);
  t.notThrows(() => cancelOrderResponseSchema.parse(answer.body));
  t.like(answer.body, {
    order: { id: body.order.id, status: "cancelled", cancelReason: "user_cancelled" },
    balance: { total: 1_000_000, available: 1_000_000 },
  });
});

test("400 ORDER_NOT_CANCELLABLE: filled or cancelled", async (t) => {
  const { marketId } = await makeQuotedMarket();
  const trader = await makeTrader();
  const filled = await place(trader, { marketId, side: "yes", price: 60, quantity: 1 });
  const answer = await call("DELETE", `/api/v1/orders/${filled.body.order.id}`, trader);
  t.is(answer.status, 400);
  t.deepEqual(answer.body, { error: "Cannot cancel order with status: filled" });

  const { body } = await place(trader, { marketId, side: "yes", price: 10, quantity: 1 });
  await call("DELETE", `/api/v1/orders/${body.order.id}`, trader);
  const again = await call("DELETE", `/api/v1/orders/${body.order.id}`, trader);
  t.is(again.status, 400);
  t.deepEqual(again.body, { error: "Cannot cancel order with status: cancelled" });
});

test("404 ORDER_NOT_FOUND: unknown and another's, to read and to cancel", async (t) => {
  const trader = await makeTrader();
  const { body } = await place(trader, { marketId: await makeMarket(), ...sound });
  const other = await makeTrader();
  for (const id of [noSuchId, body.order.id]) {
    for (const method of ["GET", "DELETE"]) {
      const answer = await call(method, `/api/v1/orders/${id}`, { key: other.key });
      t.is(answer.status, 404);
      t.deepEqual(answer.body, { error: "Order not found" });
    }
  }
});

test("400: an order id that is no UUID", async (t) => {
  const { key } = await makeTrader();
  for (const id of ["1", "x".repeat(300), "%E0%A4%A", "01900000-0000-7000-8000-00000000000g"]) {
    for (const method of ["GET", "DELETE"]) {
      const answer = await call(method, `/api/v1/orders/${id}`, { key });
      t.is(answer.status, 400);
      t.deepEqual(answer.body, { error: "Invalid id" });
    }
  }
});

test("200: the list of orders, one order, and the filters", async (t) => {
  const { marketId } = await makeQuotedMarket();
  const otherMarketId = await makeMarket();
  const trader = await makeTrader();
  const resting = await place(trader, { marketId, side: "yes", price: 40, quantity: 7 });
  const elsewhere = await place(trader, { marketId: otherMarketId, ...sound });
  const filled = await place(trader, { marketId, side: "yes", price: 60, quantity: 1 });
  const gone = await place(trader, { marketId, side: "yes", price: 10, quantity: 1 });
  await call("DELETE", `/api/v1/orders/${gone.body.order.id}`, trader);
  const [restingId, elsewhereId, filledId, goneId] = [resting, elsewhere, filled, gone].map(
    (answer) => answer.body.order.id,
  );

  const list = async (query: string) => {
    const answer = await call("GET", `/api/v1/orders${query}`, trader);
    t.is(answer.status, 200);
    t.is(answer.headers.get("cache-control"), "no-store");
    t.notThrows(() => listOrdersResponseSchema.parse(answer.body));
    return { ids: answer.body.data.map((order: { id: string }) => order.id), ...answer.body };
  };
  t.deepEqual((await list("")).ids, [elsewhereId, restingId]);
  t.deepEqual((await list("?status=open")).meta, { pageSize: 2 });
  t.deepEqual((await list(`?marketId=${marketId}`)).ids, [restingId]);
  t.is((await list(`?marketId=${marketId.toUpperCase()}`)).data[0].sharesAhead, 100);
  t.deepEqual((await list(`?marketId=${noSuchId}`)).ids, []);
  t.deepEqual((await list("?status=scheduled")).ids, []);
  t.deepEqual((await list("?status=filled")).ids, [filledId]);
  t.deepEqual(await list("?status=cancelled").then(({ ids, meta }) => ({ ids, meta })), {
    ids: [goneId],
    meta: { pageSize: 1, total: 1 },
  });
  const all = await list("?status=all&unknown=ignored");
  t.deepEqual(all.ids, [goneId, filledId, elsewhereId, restingId]);
  t.deepEqual(all.meta, { pageSize: 4, total: 4 });

  const one = await call("GET", `/api/v1/orders/${restingId}`, trader);
  t.is(one.status, 200);
  t.notThrows(() => orderDetailSchema.parse(one.body));
  t.like(one.body, all.data[3]);
});

for (const [query, path] of [
  ["status=resting", "status"],
  ["status=", "status"],
  ["status=open&status=filled", "status"],
  ["marketId=1", "marketId"],
] as const) {
  test(`400 INVALID_REQUEST: GET /orders?${query}`, async (t) => {
    const answer = await call("GET", `/api/v1/orders?${query}`, anybody);
    t.is(answer.status, 400);
    t.is(answer.body.code, "INVALID_REQUEST");
    t.is(answer.body.issues[0].path, path);
  });
}
