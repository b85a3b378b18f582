import { createHash, randomUUID } from "node:crypto";
import test from "ava";
import { isCommand } from "../../src/api/route.ts";
import type { Route } from "../../src/api/route.ts";
import { routes } from "../../src/api/routes.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";

/** Every command with an Idempotency-Key. Made from the table of routes. */

const service = testService(test);
const { call, makeEvent, makeMarket, makeTrader, operate } = service;

const commands = routes.filter(isCommand);

/** What a test sends: a command, and another one of the same route. */
interface Sample {
  path: string;
  body?: unknown;
  otherPath?: string;
  other?: unknown;
}

/** What to send of each command for a trader with two orders that rest, and ten complete sets. */
async function makeSamples() {
  const eventId = await makeEvent();
  const marketId = await makeMarket({ event_id: eventId });
  const ann = await makeTrader();
  const place = async (price: number): Promise<string> => {
    const body = { marketId, side: "yes", price, quantity: 5 };
    return (await call("POST", "/api/v1/orders", { key: ann.key, body })).body.order.id;
  };
  const [one, two] = [await place(10), await place(11)];
  await call("POST", "/api/v1/positions/split", { key: ann.key, body: { marketId, quantity: 10 } });
  const resolvedId = await makeMarket();
  const set = { marketId: resolvedId, quantity: 1 };
  await call("POST", "/api/v1/positions/split", { key: ann.key, body: set });
  await operate("resolve_market", { market_id: resolvedId, outcome: "yes" });
  const order = { marketId, side: "yes", price: 5, quantity: 1 };
  const sampleOf = ({ operationId, path }: Route): Sample => {
    const withId = path.replace(":id", one);
    const samples: Record<string, Sample> = {
      placeOrder: { path, body: order, other: { ...order, price: 6 } },
      placeOrders: {
        path,
        body: {
          orders: [order, { ...order, quantity: 0 }, { ...order, price: 99, quantity: 10_000 }],
        },
        other: { orders: [order] },
      },
      amendOrder: { path: withId, body: { price: 12 }, other: { price: 13 } },
      cancelOrder: { path: withId, otherPath: path.replace(":id", two) },
      cancelOrders: {
        path,
        body: { orderIds: [one, randomUUID()] },
        other: { orderIds: [one, two] },
      },
      cancelAllOrders: { path, body: {}, other: { marketId } },
      setDeadMan: { path, body: { timeoutMs: 300_000 }, other: { timeoutMs: 200_000 } },
      splitPosition: { path, body: { marketId, quantity: 1 }, other: { marketId, quantity: 2 } },
      mergePosition: { path, body: { marketId, quantity: 1 }, other: { marketId, quantity: 2 } },
      convertShares: {
        path: path.replace(":id", eventId),
        body: { marketIds: [marketId], quantity: 1 },
        other: { marketIds: [marketId], quantity: 2 },
      },
      redeemShares: {
        path: path.replace(":id", eventId),
        body: { quantity: 1 },
        other: { quantity: 2 },
      },
      disputeResolution: {
        path: path.replace(":id", resolvedId),
        body: { text: "It rained." },
        other: { text: "It snowed." },
      },
    };
    const sample = samples[operationId];
    if (sample === undefined) throw new Error(`no sample of ${operationId}: add one to this test`);
    return sample;
  };
  return { ann, sampleOf };
}

let another: ReturnType<typeof makeSamples> | undefined;
/** Of one other trader: for commands that are not carried out. */
const samplesOfAnother = () => (another ??= makeSamples());

/** A trader, and a command of theirs. */
async function makeSample(route: Route) {
  const { ann, sampleOf } = await makeSamples();
  return { ann, ...sampleOf(route) };
}

const viewOf = async ({ key }: Trader) => [
  (await call("GET", "/api/v1/me", { key })).body,
  (await call("GET", "/api/v1/me/portfolio", { key })).body,
  (await call("GET", "/api/v1/orders?status=all", { key })).body,
];

test("there are commands", (t) => {
  t.true(commands.length >= 9);
});

for (const route of commands) {
  const method = route.method.toUpperCase();
  const name = `${method} ${route.path}`;

  test(`${name}: the first answer again, and nothing changes`, async (t) => {
    const { ann, path, body } = await makeSample(route);
    const headers = { "Idempotency-Key": randomUUID() };
    const send = () =>
      call(method, path, { key: ann.key, headers, ...(body !== undefined && { body }) });
    const first = await send();
    t.true(first.status === 200 || first.status === 201, JSON.stringify(first.body));
    t.is(first.headers.get("idempotency-replayed"), null);
    const before = await viewOf(ann);
    const again = await send();
    t.is(again.headers.get("idempotency-replayed"), "true");
    t.is(again.status, route.operationId === "placeOrder" ? 200 : first.status);
    if (route.operationId === "placeOrder") {
      t.is(again.body.order.id, first.body.order.id);
      t.is(again.body.feeCents, null);
    } else {
      t.deepEqual(again.body, first.body);
    }
    t.deepEqual(await viewOf(ann), before);
  });

  test(`422 IDEMPOTENCY_KEY_REUSED: ${name}, another request, and another command`, async (t) => {
    const { ann, path, body, other, otherPath } = await makeSample(route);
    const headers = { "Idempotency-Key": randomUUID() };
    await call(method, path, { key: ann.key, headers, ...(body !== undefined && { body }) });
    const before = await viewOf(ann);
    const reused = await call(method, otherPath ?? path, {
      ...{ key: ann.key, headers },
      ...(other !== undefined && { body: other }),
    });
    t.is(reused.status, 422);
    t.is(reused.body.code, "IDEMPOTENCY_KEY_REUSED");
    const { sampleOf } = await samplesOfAnother();
    const { body: portfolio } = await call("GET", "/api/v1/me/portfolio", { key: ann.key });
    const [order] = portfolio.openOrders;
    for (const elsewhere of commands) {
      if (elsewhere === route) continue;
      // A command of this user that a key of another one must keep from being carried out.
      const sent = {
        ...sampleOf(elsewhere),
        path: elsewhere.path.replace(":id", order?.id ?? randomUUID()),
      };
      const answer = await call(elsewhere.method.toUpperCase(), sent.path, {
        ...{ key: ann.key, headers },
        ...(sent.body !== undefined && { body: sent.body }),
      });
      t.is(answer.body.code, "IDEMPOTENCY_KEY_REUSED", elsewhere.path);
    }
    t.deepEqual(await viewOf(ann), before);
  });

  test(`400 INVALID_REQUEST: ${name} with a key that is no UUID`, async (t) => {
    const { ann, path, body } = await makeSample(route);
    const before = await viewOf(ann);
    const answer = await call(method, path, {
      ...{ key: ann.key, headers: { "Idempotency-Key": "mine" } },
      ...(body !== undefined && { body }),
    });
    t.is(answer.status, 400);
    t.like(answer.body, { code: "INVALID_REQUEST", issues: [{ path: "Idempotency-Key" }] });
    t.deepEqual(await viewOf(ann), before);
  });
}

test("POST /orders: body and header must agree; the header is strict, the body is not", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const idempotencyKey = randomUUID();
  const body = { marketId, side: "yes", price: 5, quantity: 1 };
  const send = (sent: object, header?: string) =>
    call("POST", "/api/v1/orders", {
      ...{ key, body: sent },
      ...(header !== undefined && { headers: { "Idempotency-Key": header } }),
    });
  const disagree = await send({ ...body, idempotencyKey }, randomUUID());
  t.is(disagree.status, 400);
  t.like(disagree.body, { code: "INVALID_REQUEST", issues: [{ path: "idempotencyKey" }] });
  const first = await send({ ...body, idempotencyKey }, idempotencyKey);
  t.is(first.status, 201);
  t.is((await send({ ...body, idempotencyKey }, idempotencyKey)).status, 200);
  t.is((await send(body, idempotencyKey)).status, 200, "to repeat the key says nothing new");
  t.is((await send({ ...body, price: 6, idempotencyKey }, idempotencyKey)).status, 422);
  const loose = await send({ ...body, price: 6, idempotencyKey });
  t.is(loose.status, 200);
  t.is(loose.body.order.id, first.body.order.id);
});

test("an atomic batch: replayed as it was, and a rejected one keeps nothing", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const order = { marketId, side: "yes", price: 5, quantity: 1 };
  const headers = { "Idempotency-Key": randomUUID() };
  const send = (orders: object[]) =>
    call("POST", "/api/v1/orders/batch", { key, headers, body: { atomic: true, orders } });
  const rejected = await send([order, { ...order, price: 99, quantity: 10_000 * 2 }]);
  t.is(rejected.status, 400);
  const unfunded = await send([order, { ...order, side: "no", price: 96 }]);
  t.is(unfunded.status, 409);
  t.like(unfunded.body, { code: "BATCH_REJECTED", index: 1 });
  const placed = await send([order, order]);
  t.is(placed.status, 200);
  const again = await send([order, order]);
  t.deepEqual(again.body, placed.body);
  t.is(again.headers.get("idempotency-replayed"), "true");
  const own = await call("POST", "/api/v1/orders/batch", {
    ...{ key, headers: { "Idempotency-Key": headers["Idempotency-Key"] } },
    body: { orders: [{ ...order, idempotencyKey: headers["Idempotency-Key"] }] },
  });
  t.is(own.status, 400);
});

test("a batch is the same in another form of its JSON, also with a malformed order", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const order = { marketId, side: "yes", price: 5, quantity: 1 };
  const expiresAt = "2999-01-01T00:00:00.000Z";
  const dated = { ...order, expiresAt };
  const wrong = { marketId, side: "maybe", price: 5, quantity: 2 };
  const sameOrders = [
    `{"quantity":1,"price":5,"side":"yes","expiresAt":"${expiresAt}","marketId":"${marketId}"}`,
    JSON.stringify({ ...dated, note: "mine", tags: [{}], budgetCents: null }),
    JSON.stringify({ ...dated, marketId: marketId.toUpperCase() }),
    JSON.stringify({ ...dated, expiresAt: "2999-01-01T01:00:00+01:00" }),
    JSON.stringify(dated).replace('"price":5', '"price": 5.0'),
  ];
  const sameMalformed = [
    `{"quantity":2,"price":5,"side":"maybe","marketId":"${marketId.toUpperCase()}"}`,
    JSON.stringify({ ...wrong, note: "mine", timeInForce: null }),
  ];
  const others = [
    [dated],
    [{ ...dated, price: 6 }, wrong, []],
    [dated, { ...wrong, side: "perhaps" }, []],
    [dated, { ...wrong, quantity: 3 }, []],
    [dated, wrong, {}],
    [dated, wrong, "[]"],
    [dated, [], wrong],
  ];
  const headers = { "Idempotency-Key": randomUUID() };
  const send = (body: unknown) => call("POST", "/api/v1/orders/batch", { key, headers, body });
  const placed = await send({ orders: [dated, wrong, []] });
  t.deepEqual(
    placed.body.results.map(({ status }: { status: number }) => status),
    [201, 400, 400],
  );
  const [same, malformed] = [dated, wrong].map((each) => JSON.stringify(each));
  for (const [one, two] of [
    ...sameOrders.map((each) => [each, malformed]),
    ...sameMalformed.map((each) => [same, each]),
  ]) {
    const again = await send(`{"extra":1,"orders":[${one},${two},[]]}`);
    t.is(again.headers.get("idempotency-replayed"), "true", `${one} ${two}`);
    t.deepEqual(again.body, placed.body);
  }
  for (const orders of others) {
    const { status, body } = await send({ orders });
    t.deepEqual([status, body.code], [422, "IDEMPOTENCY_KEY_REUSED"], JSON.stringify(orders));
  }
});

test("a batch of deep lists and objects gets its results with a key as without one", async (t) => {
  const { key } = await makeTrader();
  // As deep as a body of 4,000 values can be.
  const list = "[".repeat(3990) + "]".repeat(3990);
  const object = `${'{"a":'.repeat(3990)}1${"}".repeat(3990)}`;
  for (const order of [list, object, `{"marketId":${list}}`, `{"marketId":${object}}`]) {
    const headers = { "Idempotency-Key": randomUUID() };
    const send = (more: object, atomic: boolean) =>
      call("POST", "/api/v1/orders/batch", {
        key,
        body: `{"atomic":${atomic},"orders":[${order}]}`,
        ...more,
      });
    const without = await send({}, false);
    t.deepEqual([without.status, without.body.results[0].status], [200, 400]);
    const first = await send({ headers }, false);
    t.deepEqual([first.status, first.body], [200, without.body]);
    const again = await send({ headers }, false);
    t.is(again.headers.get("idempotency-replayed"), "true");
    t.deepEqual(again.body, first.body);
    const atomic = await send({ headers: { "Idempotency-Key": randomUUID() } }, true);
    t.deepEqual([atomic.status, atomic.body.code], [400, "INVALID_REQUEST"]);
  }
});

test("keys of batches that earlier builds kept are those of the same orders", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const idempotencyKey = randomUUID();
  const orders =
    `[{"marketId":"${marketId}","side":"yes","price":5,"quantity":1},` +
    `{"marketId":"${marketId}","side":"yes","price":5.5,"quantity":1}]`;
  await call("POST", "/api/v1/orders/batch", {
    key,
    headers: { "Idempotency-Key": idempotencyKey },
    body: `{"orders":${orders}}`,
  });
  const { rows } = await service.database.pool.query(
    `select replace(k.request_fingerprint::text, '-', '') as fingerprint
     from trading.idempotency_keys as k where k.key = $1`,
    [idempotencyKey],
  );
  const text = `["post","/api/v1/orders/batch",{"body":{"orders":${orders}}}]`;
  t.is(rows[0].fingerprint, createHash("sha256").update(text).digest("hex").slice(0, 32));
});

test("POST /orders: a key of the body is strict in the header, but for an order made smaller", async (t) => {
  const ann = await makeTrader();
  const [marketId, otherId] = [await makeMarket(), await makeMarket()];
  const order = { marketId, side: "yes", price: 3, quantity: 5 };
  const others = [
    { ...order, side: "no" },
    { ...order, price: 4 },
    { ...order, quantity: 4 },
    { ...order, marketId: otherId },
    { ...order, timeInForce: "ioc" },
    { ...order, postOnly: true },
    { ...order, expiresAt: "2999-01-01T00:00:00Z" },
    { marketId, side: "yes", price: 3, budgetCents: 15 },
  ];
  const idempotencyKey = randomUUID();
  const place = (body: object, headers: Record<string, string> = {}) =>
    call("POST", "/api/v1/orders", { key: ann.key, body, headers });
  const header = { "Idempotency-Key": idempotencyKey };
  const first = await place({ ...order, idempotencyKey });
  t.is(first.status, 201);
  for (const other of others) {
    const answers = [await place(other, header), await place({ ...other, idempotencyKey }, header)];
    for (const { status, body } of answers) {
      t.deepEqual([status, body.code], [422, "IDEMPOTENCY_KEY_REUSED"], JSON.stringify(other));
    }
    t.is((await place({ ...other, idempotencyKey })).body.order.id, first.body.order.id);
  }
  const { id } = first.body.order;
  t.is((await place(order, header)).body.order.id, id);
  const smaller = { key: ann.key, body: { quantity: 2 } };
  t.is((await call("PATCH", `/api/v1/orders/${id}`, smaller)).status, 200);
  t.is((await place(order, header)).body.order.id, id);
});
