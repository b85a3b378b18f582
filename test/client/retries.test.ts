import test from "ava";
import { ApiError, createClient } from "../../src/client/client.ts";
import type { Client } from "../../src/client/client.ts";
import { makeDocument } from "../../src/api/openapi.ts";
import { routes } from "../../src/api/routes.ts";
import { fakeServer } from "./fake_fetch.ts";
import type { FakeServer, Reaction } from "./fake_fetch.ts";

/** Which requests the client repeats, when, and what it throws in the end. */

const placed: Reaction = { status: 201, body: { order: { id: "1" } } };
const order = { marketId: "m", side: "yes", price: 50, quantity: 1 } as const;
const KEY = "3f6c1f6e-6a0e-4d57-9c57-0d8f5b0a7c11";

function start(name: string, reactions: Reaction[]): FakeServer & { client: Client } {
  const server = fakeServer(name, reactions);
  const { fetch, timing } = server;
  const url = "http://exchange/";
  return { ...server, client: createClient({ url, key: "jk_1", fetch, timing, timeoutMs: 20 }) };
}

const rejected = (status: number, code?: string, headers?: Record<string, string>): Reaction => ({
  ...{ status, body: { error: "No", ...(code !== undefined && { code }) } },
  headers: { "X-Request-Id": "r", ...headers },
});

async function failureOf(work: Promise<unknown>): Promise<ApiError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("It succeeded");
}

test("a command is repeated with its key until it is answered", async (t) => {
  const reactions: Reaction[] = [
    ...(["lost", "cut", "silent"] as const),
    rejected(502),
    rejected(503),
    rejected(503, "CONFLICT_RETRY", { "Retry-After": "1" }),
    rejected(503, "OUTCOME_UNKNOWN", { "Retry-After": "1" }),
    rejected(504),
    rejected(429, undefined, { "Retry-After": "3" }),
    placed,
  ];
  const { client, sent, waits } = start("commands", reactions);
  const body = await client.post("/api/v1/orders", { body: order });
  t.is(body.order.id, "1");
  t.is(sent.length, reactions.length);
  const [first] = sent;
  t.regex(first!.headers.get("Idempotency-Key")!, /^[0-9a-f]{8}-/);
  for (const request of sent) {
    t.is(request.headers.get("Idempotency-Key"), first!.headers.get("Idempotency-Key"));
    t.is(request.headers.get("Authorization"), "Bearer jk_1");
    t.deepEqual([request.method, request.url], ["POST", "http://exchange/api/v1/orders"]);
    t.deepEqual(request.body, order);
  }
  // The waits grow twofold, half of each is random; Retry-After is the least.
  for (const [index, waited] of waits.entries()) {
    const asked = [5, 6].includes(index) ? 1000 : index === 8 ? 3000 : 0;
    const longest = Math.min(10_000, 100 * 2 ** index);
    const [least, most] =
      asked === 0 ? [longest / 2, longest] : [asked + longest / 4, asked + longest / 2];
    t.true(waited >= least && waited <= most, `${index}: ${waited} ms`);
  }
});

test("every command has a key of its own, unless the caller gives one", async (t) => {
  const { client, sent } = start("keys", [placed]);
  await client.post("/api/v1/orders", { body: order });
  await client.post("/api/v1/orders", { body: order });
  await client.post("/api/v1/orders", { body: order, idempotencyKey: KEY });
  await client.post("/api/v1/orders", { body: { ...order, idempotencyKey: KEY } });
  const keys = sent.map(({ headers }) => headers.get("Idempotency-Key"));
  t.is(new Set(keys).size, 3);
  t.deepEqual(keys.slice(2), [KEY, KEY]);
});

test("reads are repeated too, and have no key", async (t) => {
  const reactions: Reaction[] = [
    ...(["lost", "cut", "stalled", "silent"] as const),
    rejected(503, undefined, { "X-Error-Code": "SERVICE_UNAVAILABLE", "Retry-After": "1" }),
    { status: 200, body: { bids: [], asks: [] } },
  ];
  const { client, sent } = start("reads", reactions);
  const path = { id: "a/b" };
  t.deepEqual(await client.get("/api/v1/markets/{id}/orderbook", { path }), { bids: [], asks: [] });
  t.is(sent.length, reactions.length);
  t.is(sent[0]!.url, "http://exchange/api/v1/markets/a%2Fb/orderbook");
  t.true(sent.every(({ headers }) => !headers.has("Idempotency-Key")));
});

test("what is no command has no key, and every command of the API takes one", (t) => {
  const document = makeDocument(routes) as any;
  const others: string[] = [];
  for (const [path, methods] of Object.entries<any>(document.paths)) {
    if (!path.startsWith("/api/v1/")) continue;
    for (const [method, operation] of Object.entries<any>(methods)) {
      const names = operation.parameters?.map(({ name }: { name: string }) => name) ?? [];
      if (method !== "get" && !names.includes("Idempotency-Key")) others.push(path);
    }
  }
  t.deepEqual(others.toSorted(), ["/api/v1/events/{id}/convert/preview", "/api/v1/orders/preview"]);
});

test("a path outside of /api/v1/ is not called: its commands take no key", async (t) => {
  const { client, sent } = start("outside", [placed]);
  await t.throwsAsync(client.post("/api/account/sign-up" as any, {} as any), {
    instanceOf: TypeError,
  });
  t.is(sent.length, 0);
});

test("a preview is a read that is sent by POST", async (t) => {
  const { client, sent } = start("preview", ["lost", { status: 200, body: { status: "open" } }]);
  await client.post("/api/v1/orders/preview", { body: order });
  t.is(sent.length, 2);
  t.false(sent[0]!.headers.has("Idempotency-Key"));
});

test("an answer is not repeated: 4xx, 500, and 503 TRADING_PAUSED", async (t) => {
  const answers = [
    rejected(400, "INVALID_REQUEST"),
    rejected(401),
    rejected(403, "KEY_SCOPE"),
    rejected(404),
    rejected(409, "DEAD_MAN_FIRED"),
    rejected(422, "IDEMPOTENCY_KEY_REUSED"),
    rejected(500),
    rejected(503, "TRADING_PAUSED", { "Retry-After": "1" }),
    rejected(302),
  ];
  for (const answer of answers) {
    const { client, sent } = start("answers", [answer]);
    const error = await failureOf(client.post("/api/v1/orders", { body: order }));
    t.is(sent.length, 1);
    const { status, body, headers } = answer as any;
    t.like(error, { status, code: body.code, requestId: "r", message: "No" });
    t.is(error.retryAfter, headers["Retry-After"] === undefined ? undefined : 1);
    t.is(error.isOutcomeUnknown, status === 500);
    t.is(error.idempotencyKey, sent[0]!.headers.get("Idempotency-Key")!);
  }
});

test("what is wrong with a request, field by field, and a code that only a header has", async (t) => {
  const issues = [{ path: "side", message: "must be one of yes, no" }];
  const body = { error: "side: must be one of yes, no", code: "INVALID_REQUEST", issues };
  const first = start("issues", [{ status: 400, body }]);
  t.deepEqual((await failureOf(first.client.get("/api/v1/me/portfolio"))).issues, issues);
  const second = start("header", [rejected(404, undefined, { "X-Error-Code": "NOT_FOUND" })]);
  t.is((await failureOf(second.client.get("/api/v1/me/portfolio"))).code, "NOT_FOUND");
});

test("no attempt begins after the patience is over", async (t) => {
  const rejection = rejected(503, "CONFLICT_RETRY");
  for (const reaction of ["lost", "silent", "stalled", rejection] as Reaction[]) {
    const { client, sent } = start("patience", [reaction]);
    const call = { body: order, patienceMs: 5000 };
    const error = await failureOf(client.post("/api/v1/orders", call));
    t.true(sent.length > 4 && sent.length < 20);
    t.true(sent.at(-1)!.at <= 5000);
    const code =
      reaction === "lost" ? "NO_ANSWER" : reaction === rejection ? "CONFLICT_RETRY" : "TIMEOUT";
    t.like(error, { code, isOutcomeUnknown: code !== "CONFLICT_RETRY" });
  }
});

test("a wait that is longer than the patience is not begun", async (t) => {
  const { client, sent, waits } = start("long", [
    rejected(429, undefined, { "Retry-After": "60" }),
  ]);
  const error = await failureOf(client.post("/api/v1/orders", { body: order }));
  t.like(error, { status: 429, retryAfter: 60, isOutcomeUnknown: false });
  t.deepEqual([sent.length, waits.length], [1, 0]);
});

test("a wait is never longer than a timer can be set for", async (t) => {
  const { client, waits } = start("longest", [
    rejected(429, undefined, { "Retry-After": "99999999" }),
    placed,
  ]);
  await client.post("/api/v1/orders", { body: order, patienceMs: Infinity });
  t.deepEqual(waits, [2 ** 31 - 1]);
});

test("time limits are those that a timer can keep; patience may be without end", async (t) => {
  const make = (options: object) => createClient({ url: "http://exchange", ...options });
  const { client, sent } = start("limits", [placed]);
  const post = async (options: object) =>
    await client.post("/api/v1/orders", { body: order, ...options });
  const isRange = { instanceOf: RangeError };
  for (const ms of [0, -1, NaN, Infinity, 2 ** 31]) {
    t.throws(() => make({ timeoutMs: ms }), isRange, `timeoutMs ${ms}`);
    t.throws(() => make({ idleMs: ms }), isRange, `idleMs ${ms}`);
    await t.throwsAsync(post({ timeoutMs: ms }), isRange);
  }
  for (const ms of [-1, NaN]) {
    t.throws(() => make({ patienceMs: ms }), isRange);
    await t.throwsAsync(post({ patienceMs: ms }), isRange);
  }
  t.is(sent.length, 0);
  make({ timeoutMs: 2 ** 31 - 1, idleMs: 2 ** 31 - 1, patienceMs: Infinity });
  await post({ timeoutMs: 2 ** 31 - 1, patienceMs: 0 });
  t.is(sent.length, 1);
});

test("the outcome stays unknown until an answer decides it", async (t) => {
  const cases: [Reaction, boolean][] = [
    [rejected(400, "INSUFFICIENT_BALANCE"), false],
    [rejected(503, "TRADING_PAUSED"), false],
    [rejected(404, undefined, { "X-Error-Code": "ORDER_NOT_FOUND" }), false],
    // Of something between client and server.
    [{ status: 400, text: "<html>" }, true],
    [rejected(404), true],
    [rejected(401), true],
    [rejected(403, "KEY_SCOPE"), true],
    [rejected(429, undefined, { "Retry-After": "60" }), true],
  ];
  for (const [answer, isOutcomeUnknown] of cases) {
    const { client } = start("unknown", ["lost", answer]);
    t.like(await failureOf(client.post("/api/v1/orders", { body: order })), { isOutcomeUnknown });
  }
  const { client } = start("read", ["lost"]);
  t.like(await failureOf(client.get("/api/v1/me/portfolio")), { isOutcomeUnknown: false });
});

test("Retry-After may be a date", async (t) => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const { client } = start("date", [rejected(429, undefined, { "Retry-After": date })]);
  const { retryAfter = 0 } = await failureOf(client.get("/api/v1/me/portfolio"));
  t.true(retryAfter > 3500 && retryAfter <= 3600);
});

test("an answer that is not JSON is an error, and not repeated", async (t) => {
  const { client, sent } = start("html", [{ status: 200, text: "<html>" }]);
  const error = await failureOf(client.post("/api/v1/orders", { body: order }));
  t.like(error, { status: 200, code: "BAD_ANSWER", isOutcomeUnknown: true });
  t.is(sent.length, 1);
});

test("a signal ends a call: before it, while it waits for an answer, and between attempts", async (t) => {
  const reason = new Error("enough");
  const isReason = { is: reason };
  const before = start("before", [placed]);
  const get = (client: Client, signal: AbortSignal) =>
    client.get("/api/v1/me/portfolio", { signal });
  await t.throwsAsync(get(before.client, AbortSignal.abort(reason)), isReason);
  t.is(before.sent.length, 0);

  const controller = new AbortController();
  const silent = fakeServer("meanwhile", ["silent"]);
  const client = createClient({ url: "http://exchange", fetch: silent.fetch, timeoutMs: 60_000 });
  const asking = get(client, controller.signal);
  controller.abort(reason);
  await t.throwsAsync(asking, isReason);

  const between = new AbortController();
  const lost = fakeServer("between", ["lost"]);
  const fetch: typeof globalThis.fetch = async (...request) => {
    // After the attempt, while the client waits for the next one.
    setTimeout(() => {
      between.abort(reason);
    });
    return await lost.fetch(...request);
  };
  const waiting = createClient({ url: "http://exchange", fetch, patienceMs: 600_000 });
  await t.throwsAsync(get(waiting, between.signal), isReason);
  t.is(lost.sent.length, 1);
});

test("an answer has its status, headers, key, version and whether it is a replay", async (t) => {
  const headers = { "Idempotency-Replayed": "true", "X-Market-Version": "7" };
  const { client } = start("full", [{ status: 200, body: {}, headers }]);
  const call = { path: { id: "1" }, idempotencyKey: KEY };
  const answer = await client.send("delete", "/api/v1/orders/{id}", call);
  t.like(answer, { status: 200, isReplay: true, marketVersion: 7, idempotencyKey: KEY });
  t.is(answer.headers.get("X-Market-Version"), "7");
});

test("commands ask for unknown fields to be rejected; a parameter that is missing throws", async (t) => {
  const { client, sent } = start("strict", [placed]);
  await client.post("/api/v1/orders", { body: order });
  t.is(sent[0]!.headers.get("Prefer"), "handling=strict");
  const query = { marketId: "m 1", status: undefined, limit: 3 } as any;
  await client.get("/api/v1/orders", { query });
  t.is(sent[1]!.url, "http://exchange/api/v1/orders?marketId=m+1&limit=3");
  await t.throwsAsync(client.get("/api/v1/orders/{id}", { path: {} as any }), {
    message: "/api/v1/orders/{id} needs id",
  });
});
