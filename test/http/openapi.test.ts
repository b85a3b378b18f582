import { randomUUID } from "node:crypto";
import test from "ava";
import { routes } from "../../src/api/routes.ts";
import { openEvents } from "../helpers/http/event_source.ts";
import { checkAnswers } from "./openapi_answers.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Answer, CallOptions } from "../helpers/http/test_service.ts";

const service = testService(test);
const { makeMarket, makeTrader, makeTraders, operate } = service;

const noSuchId = "01900000-0000-7000-8000-000000000000";
const { faultsOf, met } = checkAnswers();

test.serial("the answers of every route match the document", async (t) => {
  const call = async (method: string, path: string, options?: CallOptions): Promise<Answer> => {
    const answer = await service.call(method, path, options);
    t.deepEqual(faultsOf(method, path, answer), [], `${method} ${path}`);
    return answer;
  };
  const event_id = await operate("create_event", { title: "Election", category: "tests" });
  const marketId: string = await operate("create_market", {
    title: "Who wins?",
    category: "tests",
    event_id,
    close_time: "2090-01-01T00:00:00Z",
  });
  const closed = await makeMarket();
  await operate("set_market_status", { market_id: closed, status: "closed" });
  const [ann, bob] = await makeTraders(2);
  const place = (key: string, order: Record<string, unknown>) =>
    call("POST", "/api/v1/orders", { key, body: { marketId, ...order } });

  await place(ann.key, { side: "no", price: 40, quantity: 10 });
  const bid = { side: "yes", price: 60, quantity: 15, idempotencyKey: randomUUID() };
  const { body } = await place(bob.key, bid);
  await place(bob.key, bid);
  await place(bob.key, { side: "yes", price: 5, quantity: 5, expiresAt: "2090-01-01T00:00:00Z" });
  await place(bob.key, { side: "maybe" });
  await place("", { side: "yes" });
  await place(ann.key, { side: "no", budgetCents: 1000, marketId: closed });
  await place(ann.key, { side: "yes", orderType: "sell", quantity: 10_000 });
  await place(ann.key, { side: "no", price: 50, quantity: 1, note: "x".repeat(70_000) });

  const resting = await place(bob.key, { side: "yes", price: 5, quantity: 5 });
  const amend = (id: string, change: object) =>
    call("PATCH", `/api/v1/orders/${id}`, { key: bob.key, body: change });
  await amend(resting.body.order.id, { quantity: 4 });
  const replaced = await amend(resting.body.order.id, { price: 6 });
  await amend(resting.body.order.id, { price: 7 });
  await amend(resting.body.order.id, {});
  await amend(noSuchId, { price: 7 });
  const orders = [{ marketId, side: "yes", price: 4, quantity: 5 }, { side: "yes" }];
  await call("POST", "/api/v1/orders/batch", { key: bob.key, body: { orders } });
  await call("POST", "/api/v1/orders/batch", { key: bob.key, body: { orders, atomic: true } });
  const unpayable = { ...orders[0], orderType: "sell", side: "no", quantity: 10_000 };
  const atomic = { orders: [orders[0], unpayable], atomic: true };
  await call("POST", "/api/v1/orders/batch", { key: bob.key, body: atomic });
  for (const order of [...orders, unpayable]) {
    await call("POST", "/api/v1/orders/preview", { key: bob.key, body: order });
  }
  const orderIds = [replaced.body.order.id, noSuchId];
  await call("POST", "/api/v1/orders/cancel-batch", { key: bob.key, body: { orderIds } });
  await call("POST", "/api/v1/orders/cancel-batch", { key: bob.key, body: { orderIds: [] } });

  const stop = { key: (await makeTrader()).key };
  for (const body of [{}, { marketId }, { marketId: noSuchId }]) {
    await call("POST", "/api/v1/orders/cancel-all", { ...stop, body });
  }
  for (const timeoutMs of [1000, 1]) {
    await call("PUT", "/api/v1/orders/dead-man", { ...stop, body: { timeoutMs } });
  }
  await call("GET", "/api/v1/orders/dead-man", stop);

  for (const route of ["split", "merge", "merge"]) {
    const sets = { marketId, quantity: 50 };
    await call("POST", `/api/v1/positions/${route}`, { key: bob.key, body: sets });
  }
  await call("POST", "/api/v1/positions/split", { key: bob.key, body: { marketId: closed } });

  const race = { title: "Who wins?", category: "tests", exclusive: true };
  const raced = await operate("create_event", race);
  const runner = { title: "Ann?", category: "tests", event_id: raced };
  const marketIds = [await operate("create_market", runner)];
  const sets = { marketId: marketIds[0], quantity: 2 };
  await call("POST", "/api/v1/positions/split", { key: bob.key, body: sets });
  for (const path of ["convert/preview", "convert", "redeem", "redeem"]) {
    const shares = path === "redeem" ? { quantity: 2 } : { marketIds, quantity: 2 };
    for (const id of [raced, noSuchId]) {
      await call("POST", `/api/v1/events/${id}/${path}`, { key: bob.key, body: shares });
    }
  }

  const over = await makeMarket();
  await call("POST", "/api/v1/positions/split", {
    ...{ key: bob.key, body: { marketId: over, quantity: 1 } },
  });
  await operate("resolve_market", { market_id: over, outcome: "no" });
  for (const [id, key] of [
    ...[marketId, noSuchId, over, over].map((one) => [one, bob.key]),
    [over, stop.key],
  ]) {
    const text = { text: "It rained." };
    await call("POST", `/api/v1/markets/${id}/disputes`, { key: key!, body: text });
  }

  for (const path of ["", `/${body.order.id}`, `/${noSuchId}`, "/1", "?status=all", "?status=x"]) {
    await call("GET", `/api/v1/orders${path}`, { key: bob.key });
  }
  for (const path of [
    ...["me", "me/portfolio", "me/rate-limits", "me/proof", "me/orders", "me/orders?status=all"],
    ...["me/orders?page=0", "me/order-history", "me/order-history?limit=0", "me/disputes"],
    ...["me/disputes?marketId=1", "me/fills", "me/fills?cursor=x", "me/statement"],
    ...["me/statement?from=yesterday", "leaderboard/me", "leaderboard/me?category=nowhere"],
  ]) {
    await call("GET", `/api/v1/${path}`, { key: bob.key });
  }
  for (const id of [body.order.id, body.order.id, noSuchId, "1"]) {
    await call("DELETE", `/api/v1/orders/${id}`, { key: bob.key });
  }
  for (const path of [
    "categories",
    "categories/tests/events",
    "categories/tests/markets",
    "categories/tests/markets?status=closed",
    "categories/nowhere/markets",
    "categories/nowhere/events?limit=x",
    "events?query=who",
    "events?sort=worst",
    `events/${event_id}`,
    `events/${event_id}/outcomes`,
    `events/${noSuchId}/outcomes`,
    `markets/${marketId}/chance`,
    `events/${noSuchId}`,
    "events/1",
    `markets/${marketId}`,
    `markets/${marketId}/orderbook`,
    `markets/${marketId}/trades`,
    `markets/${marketId}/trades?page=0`,
    "markets",
    "markets?query=wins&category=tests&status=all&sort=closing",
    "markets?category=nowhere",
    "markets?sort=best",
    `markets/${marketId}/candles`,
    `markets/${marketId}/candles?interval=1d&from=2020-01-01T00:00:00Z`,
    `markets/${marketId}/candles?interval=5m`,
    `markets/${noSuchId}/candles`,
    `sparklines?markets=${marketId},${noSuchId}`,
    "sparklines",
    "proofs/head",
    "proofs/balances",
    `event-headings?events=${noSuchId}`,
    "event-headings",
    `markets/${marketId}/rules`,
    `markets/${marketId}/chance`,
    `markets/${noSuchId}/rules`,
    `markets/${marketId}/resolution`,
    `markets/${noSuchId}/resolution`,
    "exchange",
    `markets/${noSuchId}`,
    "markets/1",
    "leaderboard",
    "leaderboard?category=nowhere",
    "leaderboard?window=never",
    "leaderboard/summary",
    "leaderboard/summary?category=nowhere",
    "leaderboard/me",
  ]) {
    await call("GET", `/api/v1/${path}`);
  }
  for (const path of ["categories", `markets/${marketId}/orderbook`]) {
    await call("GET", `/api/v1/${path}`, { headers: { "if-none-match": "*" } });
  }
  await operate("publish_proof", {});
  await call("GET", "/api/v1/me/proof", { key: bob.key });
  await operate("resolve_market", { market_id: marketId, outcome: "yes" });
  await call("GET", `/api/v1/markets/${marketId}/resolution`);
  const cookie: string = await operate("create_session", { user_id: bob.userId });
  const headers = { cookie: `pgmarkets_session=${cookie}` };
  await call("GET", "/api/auth/token", { headers });
  await call("GET", "/api/auth/token");
  for (const [path, given] of [
    [`/api/v1/markets/${marketId}/stream`, {}],
    [`/api/v1/stream?markets=${marketId}`, {}],
    ["/api/v1/user/stream", { authorization: `Bearer ${bob.key}` }],
    [`/api/stream/market/${marketId}`, {}],
    ["/api/stream/user", headers],
  ] as const) {
    t.deepEqual(faultsOf("GET", path, await firstFrame(path, given)), [], path);
  }
  for (const id of [noSuchId, "1"]) await call("GET", `/api/v1/markets/${id}/stream`);
  await call("GET", "/api/v1/user/stream");
  await call("GET", "/api/stream/user");

  for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"]) {
    await call("GET", path);
  }

  // Those of accounts: test/http/account_answers.test.ts; of staff: test/http/operator_access.test.ts.
  const others = routes.filter(({ tag }) => tag !== "Account" && tag !== "Operator");
  const successes = others.flatMap(({ operationId, responses }) =>
    Object.keys(responses)
      .filter((status) => Number(status) < 300)
      .map((status) => `${operationId} ${status}`),
  );
  // The databases of tests are not made by migrations: /readyz finds them unfit.
  t.deepEqual(
    successes.filter((name) => !met.has(name)),
    ["getReadiness 200"],
    "never asked for",
  );
});

/** A stream's answer, with the data of its first frame for a body. */
async function firstFrame(path: string, headers: Record<string, string>): Promise<Answer> {
  const stream = await openEvents(service.url + path, headers);
  const { data } = await stream.next();
  stream.close();
  return {
    status: stream.status,
    headers: new Headers(Object.entries(stream.headers) as []),
    body: data,
  };
}

test("200: the document is complete", async (t) => {
  const { body, headers, status } = await service.call("GET", "/openapi.json");
  t.is(status, 200);
  t.is(headers.get("content-type"), "application/json; charset=utf-8");
  t.is(body.openapi, "3.1.1");
  const place = body.paths["/api/v1/orders"].post;
  t.deepEqual(place.security, [{ key: ["trade"] }]);
  t.deepEqual(Object.keys(place.responses["400"].content["application/json"].examples), [
    "INVALID_REQUEST",
    "market-not-found",
    "market-is-not-open-for-trading",
    "SELF_TRADE_BLOCKED",
    "POST_ONLY_WOULD_CROSS",
    "INSUFFICIENT_LIQUIDITY",
    "INSUFFICIENT_BALANCE",
  ]);
  const withKey = "retry with the same idempotency key; without one";
  for (const [operation, advice] of [
    [place, `${withKey} read your order history first`],
    [body.paths["/api/v1/orders/{id}"].delete, "safe to retry"],
    [
      body.paths["/api/v1/orders/{id}"].patch,
      `${withKey} read the old order, whose replacedBy is its successor`,
    ],
    [body.paths["/api/v1/positions/merge"].post, `${withKey} read your statement first`],
  ]) {
    const { examples } = operation.responses["503"].content["application/json"];
    t.is(examples.OUTCOME_UNKNOWN.value.error, `The outcome is unknown; ${advice}`);
  }
  const [, page] = body.paths["/api/v1/me/orders"].get.parameters;
  t.deepEqual(page.schema, { type: "integer", minimum: 1, maximum: 50, default: 20 });
  t.deepEqual(body.paths["/api/v1/markets/{id}"].get.security, [{}, { token: [] }]);
  t.deepEqual(body.paths["/api/v1/markets/{id}/stream"].get.security, []);
});

test("200: the page comes from this server alone", async (t) => {
  const page = await service.call("GET", "/docs");
  t.is(page.status, 200);
  t.is(page.headers.get("content-type"), "text/html; charset=utf-8");
  const policy = page.headers.get("content-security-policy") ?? "";
  t.regex(policy, /default-src 'none';script-src 'self';/);
  t.false(/unsafe|https?:|\*/.test(policy), policy);
  t.false(/<script>|<style>| on\w+=|https?:|"\//.test(page.body));

  const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path);
  t.is(files.length, 4);
  for (const path of files) {
    const file = await service.call("GET", `/${path}`);
    t.is(file.status, 200, path);
    t.is(file.headers.get("content-security-policy"), policy);
    t.is(file.headers.get("x-content-type-options"), "nosniff");
    t.true(file.body.length > 100, path);
    const head = await service.call("HEAD", `/${path}`);
    t.is(head.status, 200, path);
    t.is(head.headers.get("content-length"), file.headers.get("content-length"));
  }
});

for (const path of ["/docs/index.html", "/docs/../package.json", "/docs/%2e%2e/x", "/docs/x"]) {
  test(`404 NOT_FOUND: no other file is served: ${path}`, async (t) => {
    const answer = await service.call("GET", path);
    t.deepEqual([answer.status, answer.body], [404, { error: "Not found" }]);
  });
}

test("308: the page has one address", async (t) => {
  const answer = await fetch(`${service.url}/docs/`, { redirect: "manual" });
  t.is(answer.status, 308);
  t.is(new URL(answer.headers.get("location")!, answer.url).pathname, "/docs");
});
