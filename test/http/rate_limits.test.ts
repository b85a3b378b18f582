import { randomBytes } from "node:crypto";
import test from "ava";
import type { ExecutionContext } from "ava";
import { routes } from "../../src/api/routes.ts";
import { makeApp } from "../../src/server/app.ts";
import { makeAccess } from "../../src/http/access.ts";
import { formatSecret } from "../../src/secrets.ts";
import { listen } from "../../src/http_server.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Answer, CallOptions } from "../helpers/http/test_service.ts";

/** Limits of requests as clients see them. The clock stands, so nothing comes back by itself. */

const service = testService(test, { limited: true });
const { call, makeMarket, makeTrader, operate } = service;

const noSuchId = "01900000-0000-7000-8000-000000000000";

const clock = () => testClock(service.database.pool);

const limits = {
  v1: 3,
  "v1-auth": 5,
  "v1-user": 3,
  "v1-cancel-all": 2,
  "unknown-key": 5,
  "sse:market": 2,
  "sse:user": 2,
  "sse:user-ip": 3,
};
/** Of attempts, test/http/account_security.test.ts; of GraphQL, graphql_turns.test.ts. */
const others = [
  "graphql",
  "mail",
  "mail-account",
  "sign-in",
  "sign-in-account",
  "sign-in-strangers",
  "sign-up",
];

test.serial.before("lower the limits", async (t) => {
  const { rows } = await service.database.pool.query("select bucket from rate_limits.buckets");
  const all = [...Object.keys(limits), ...others];
  t.deepEqual(all.sort(), rows.map(({ bucket }) => bucket).sort());
  await clock().freeze("2030-01-01T12:00:00Z");
  for (const [bucket, max_requests] of Object.entries(limits)) {
    await operate("set_rate_limit", { bucket, max_requests, window_seconds: 60 });
  }
});

let addresses = 0;
/** An address without requests so far. */
const newAddress = () => `192.0.2.${(addresses += 1)}`;

const from = (address: string, options: CallOptions = {}): CallOptions => ({
  ...options,
  headers: { "x-forwarded-for": address, ...options.headers },
});

async function statuses(count: number, ask: () => Promise<Answer>): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) found.push((await ask()).status);
  return found;
}

const rateHeaders = ({ headers }: Answer) =>
  ["limit", "burst", "remaining"].map((name) => headers.get(`x-ratelimit-${name}`));

function isRefused(t: ExecutionContext, answer: Answer, retryAfter = "60") {
  t.is(answer.status, 429);
  t.deepEqual(answer.body, { error: "Too many requests" });
  t.is(answer.headers.get("retry-after"), retryAfter);
  t.is(answer.headers.get("cache-control"), "no-store");
}

test.serial("429: public reads of one address; they pass again after Retry-After", async (t) => {
  const path = `/api/v1/markets/${await makeMarket()}`;
  const [mine, other] = [newAddress(), newAddress()];
  t.deepEqual(await statuses(4, () => call("GET", path, from(mine))), [200, 200, 200, 429]);
  isRefused(t, await call("GET", "/api/v1/categories", from(mine)));
  isRefused(t, await call("GET", "/api/v1/markets/not-an-id", from(`::ffff:${mine}`)));
  t.is((await call("GET", path, from(other))).status, 200);
  await clock().advance(60_000);
  t.is((await call("GET", path, from(mine))).status, 200);
});

test.serial("429: reads of one account, over all its keys and addresses", async (t) => {
  const { key, userId } = await makeTrader();
  const second = await operate("create_api_key", { user_id: userId, name: "second" });
  const read = (apiKey: string) => call("GET", "/api/v1/me", from(newAddress(), { key: apiKey }));
  t.deepEqual(await statuses(2, () => read(key)), [200, 200]);
  t.deepEqual(await statuses(2, () => read(second)), [200, 429]);
  const refused = await call("GET", "/api/v1/orders?status=?", from(newAddress(), { key }));
  isRefused(t, refused);
  t.deepEqual(rateHeaders(refused), [null, null, null], "this is no trading request");
});

test.serial("429: reads of several accounts from one address", async (t) => {
  const address = newAddress();
  const [ann, bob] = [await makeTrader(), await makeTrader()];
  const read = (key: string, at = address) => call("GET", "/api/v1/me", from(at, { key }));
  t.deepEqual(await statuses(3, () => read(ann.key)), [200, 200, 200]);
  t.deepEqual(await statuses(3, () => read(bob.key)), [200, 200, 429]);
  t.is((await read(bob.key, newAddress())).status, 200, "the refused one took nothing of Bob's");
});

test.serial(
  "429: commands by API keys share the user's tokens, which every answer shows",
  async (t) => {
    const { key, userId } = await makeTrader();
    const second = await operate("create_api_key", { user_id: userId, name: "second" });
    const body = { marketId: await makeMarket(), side: "yes", price: 10, quantity: 1 };
    const address = newAddress();
    const send = (method: string, path: string, options: CallOptions) =>
      call(method, `/api/v1/orders${path}`, from(address, options));

    const placed = await send("POST", "", { key, body });
    t.is(placed.status, 201);
    t.deepEqual(rateHeaders(placed), ["120", "10", "9"]);
    t.is(placed.headers.get("retry-after"), null);
    const malformed = await send("POST", "", { key: second, body: "{" });
    t.is(malformed.status, 400);
    t.deepEqual(rateHeaders(malformed), ["120", "10", "8"]);
    const unknown = await send("DELETE", "/not-an-id", { key });
    t.is(unknown.status, 400);
    t.deepEqual(rateHeaders(unknown), ["120", "10", "7"]);
    const cancelled = await send("DELETE", `/${placed.body.order.id}`, { key: second });
    t.is(cancelled.status, 200);
    t.deepEqual(rateHeaders(cancelled), ["120", "10", "6"]);

    const wrong = () => send("POST", "", { key, body: { ...body, quantity: 0 } });
    t.deepEqual(await statuses(6, wrong), [400, 400, 400, 400, 400, 400]);
    const refused = await wrong();
    isRefused(t, refused, "1");
    t.deepEqual(rateHeaders(refused), ["120", "10", "0"]);
    t.is((await send("GET", "", { key })).status, 200, "reads are counted apart");
    await clock().advance(1000);
    t.deepEqual(await statuses(3, wrong), [400, 400, 429]);

    await operate("set_rate_policy", { user_id: userId, tier: "elevated" });
    t.deepEqual(rateHeaders(await wrong()), ["600", "50", "39"]);
  },
);

test.serial("429: of orders at the same time as many are placed as there are tokens", async (t) => {
  const { key, userId } = await makeTrader();
  const marketId = await makeMarket();
  const prices = Array.from({ length: 25 }, (_, index) => index + 1);
  const answers = await Promise.all(
    prices.map((price) => {
      const body = { marketId, side: "yes", price, quantity: price % 5 === 0 ? 0 : 1 };
      return call("POST", "/api/v1/orders", from(newAddress(), { key, body }));
    }),
  );
  const answered = (status: number) => answers.filter((answer) => answer.status === status);
  t.is(answered(429).length, 15, "wrong ones count as well");
  t.is(answered(201).length + answered(400).length, 10);
  const left = [...answered(201), ...answered(400)].map((answer) => rateHeaders(answer)[2]);
  t.deepEqual(left.sort(), ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  const { rows } = await service.database.pool.query(
    "select count(*) from trading.orders as o join identity.users as u on u.id = o.user_id " +
      "where u.public_id = $1",
    [userId],
  );
  t.is(rows[0].count, answered(201).length);
});

test.serial("RateLimit and RateLimit-Policy say what is left of the windows", async (t) => {
  const address = newAddress();
  const { key } = await makeTrader();
  const headersOf = ({ headers }: Answer) => [
    headers.get("ratelimit-policy"),
    headers.get("ratelimit"),
  ];
  const read = (options: CallOptions) => call("GET", "/api/v1/me", from(address, options));
  t.deepEqual(headersOf(await read({ key })), [
    '"v1-auth";q=5;w=60, "v1-user";q=3;w=60',
    '"v1-auth";r=4, "v1-user";r=2',
  ]);
  t.deepEqual(await statuses(2, () => read({ key })), [200, 200]);
  const refused = await read({ key });
  isRefused(t, refused);
  t.is(headersOf(refused)[1], '"v1-auth";r=2, "v1-user";r=0;t=60');
  const categories = await call("GET", "/api/v1/categories", from(address));
  t.deepEqual(headersOf(categories), ['"v1";q=3;w=60', '"v1";r=2']);
  const placed = await call("POST", "/api/v1/orders", from(address, { key, body: {} }));
  t.deepEqual(headersOf(placed), [null, null], "it takes a token");
});

test.serial("429: cancel-all and the dead man's switch have a limit of their own", async (t) => {
  const { key } = await makeTrader();
  const stop = () =>
    call("POST", "/api/v1/orders/cancel-all", from(newAddress(), { key, body: {} }));
  const set = (by = key) =>
    call("PUT", "/api/v1/orders/dead-man", from(newAddress(), { key: by, body: { timeoutMs: 0 } }));
  t.deepEqual(await statuses(1, stop), [200]);
  t.deepEqual(await statuses(2, () => set()), [200, 429]);
  isRefused(t, await stop());
  const other = await makeTrader();
  const body = { marketId: await makeMarket(), side: "yes", price: 10, quantity: 1 };
  const place = () => call("POST", "/api/v1/orders", from(newAddress(), { key: other.key, body }));
  t.deepEqual(await statuses(11, place), [...Array<number>(10).fill(201), 429]);
  const stopped = await call(
    "POST",
    "/api/v1/orders/cancel-all",
    from(newAddress(), { key: other.key, body: {} }),
  );
  t.is(stopped.body.cancelled, 10, "when no trading requests are left");
  t.is((await set(other.key)).status, 200);
});

test.serial("429: commands of a browser are counted with its reads", async (t) => {
  const { userId } = await makeTrader();
  const cookie: string = await operate("create_session", { user_id: userId });
  const page = () =>
    call(
      "GET",
      "/api/auth/token",
      from(newAddress(), { headers: { cookie: `pgmarkets_session=${cookie}` } }),
    );
  const { token } = (await page()).body;
  const body = { marketId: await makeMarket(), side: "yes", price: 10, quantity: 1 };
  const place = () => call("POST", "/api/v1/orders", from(newAddress(), { key: token, body }));
  const placed = await place();
  t.is(placed.status, 201);
  t.deepEqual(rateHeaders(placed), [null, null, null]);
  t.deepEqual(await statuses(2, place), [201, 429]);
  isRefused(t, await page());
});

test.serial("429: public reads with a session's token are counted with its reads", async (t) => {
  const { key, userId } = await makeTrader();
  const cookie: string = await operate("create_session", { user_id: userId });
  const headers = { cookie: `pgmarkets_session=${cookie}` };
  const { token } = (await call("GET", "/api/auth/token", from(newAddress(), { headers }))).body;
  const address = newAddress();
  const path = `/api/v1/markets/${await makeMarket()}`;
  const read = (of: CallOptions, at = address) => call("GET", path, from(at, of));
  const windowsOf = ({ headers }: Answer) => headers.get("ratelimit");

  const own = await read({ key: token });
  t.is(own.status, 200);
  t.is(windowsOf(own), '"v1-auth";r=4, "v1-user";r=1');
  t.is(windowsOf(await read({})), '"v1";r=2', "it took nothing of the address");
  t.is(windowsOf(await read({ key })), '"v1";r=1', "an API key is no token");
  const unknown = await read({ key: formatSecret(randomBytes(32), "jt_") });
  t.deepEqual([unknown.status, windowsOf(unknown)], [200, '"v1";r=0']);
  t.is((await read({ key: "jt_garbage" })).status, 429);
  t.is((await read({ key: token })).status, 200, "the address may ask no more, its user may");
  isRefused(t, await read({ key: token }, newAddress()));

  await clock().advance(301_000);
  t.is(windowsOf(await read({ key: token })), '"v1";r=2', "the token is over");
});

test.serial("GET /me/rate-limits: the policy, at the cost of a read", async (t) => {
  const { key, userId } = await makeTrader();
  const ask = () => call("GET", "/api/v1/me/rate-limits", from(newAddress(), { key }));
  const standard = await ask();
  t.is(standard.status, 200);
  t.deepEqual(standard.body, {
    read: { limit: 3, windowSeconds: 60 },
    trading: { tier: "standard", requestsPerMinute: 120, burstCapacity: 10, expiresAt: null },
  });
  const own = { requests_per_minute: 300, burst_capacity: 30 };
  await operate("set_rate_policy", {
    user_id: userId,
    tier: "custom",
    ...own,
    expires_at: "2031-01-01T00:00:00Z",
  });
  t.deepEqual((await ask()).body.trading, {
    tier: "custom",
    requestsPerMinute: 300,
    burstCapacity: 30,
    expiresAt: "2031-01-01T00:00:00.000Z",
  });
  const expired = { expires_at: "2030-01-01T12:00:00Z" };
  await operate("set_rate_policy", { user_id: userId, tier: "custom", ...own, ...expired });
  t.deepEqual((await ask()).body, standard.body);
  t.deepEqual(await statuses(1, ask), [429]);
});

test.serial(
  "401, then 429: unknown keys count by themselves, malformed ones not at all",
  async (t) => {
    const address = newAddress();
    const ask = (key?: string) =>
      call("GET", "/api/v1/me", from(address, key === undefined ? {} : { key }));
    t.deepEqual(
      await statuses(9, () => ask("jk_garbage")),
      Array.from({ length: 9 }, () => 401),
    );
    t.is((await ask()).status, 401);
    const guess = () => ask(formatSecret(randomBytes(32), "jk_"));
    t.deepEqual(await statuses(6, guess), [401, 401, 401, 401, 401, 429]);
    isRefused(t, await ask(formatSecret(randomBytes(32), "jt_")));

    // Nobody who calls from there has less of their own, also if they call for the first time.
    const { key, userId } = await makeTrader();
    const order = { marketId: await makeMarket(), side: "yes", price: 10, quantity: 1 };
    const place = (by: string) =>
      call("POST", "/api/v1/orders", from(address, { key: by, body: order }));
    t.is((await place(key)).status, 201);
    const read = await ask(key);
    t.deepEqual(
      [read.status, read.headers.get("ratelimit")],
      [200, '"v1-auth";r=4, "v1-user";r=2'],
    );
    const cookie = `pgmarkets_session=${await operate("create_session", { user_id: userId })}`;
    const page = await call("GET", "/api/auth/token", from(address, { headers: { cookie } }));
    t.is(page.status, 200);
    t.is((await place(page.body.token)).status, 201);
    t.is((await guess()).status, 429);
    await clock().advance(60_000);
    t.is((await guess()).status, 401);
  },
);

test.serial(
  "403, then 429: what a key may not do counts by address, and is not the user's",
  async (t) => {
    const { userId, key } = await makeTrader();
    const weak = await operate("create_api_key", { user_id: userId, name: "w", scopes: ["read"] });
    const address = newAddress();
    const order = { marketId: noSuchId, side: "yes", price: 40, quantity: 1 };
    const place = (by: string, at: string) =>
      call("POST", "/api/v1/orders", from(at, { key: by, body: order }));
    t.deepEqual(await statuses(6, () => place(weak, address)), [403, 403, 403, 403, 403, 429]);
    // The user's tokens and reads are all there.
    t.is((await place(key, newAddress())).headers.get("x-ratelimit-remaining"), "9");
    const read = () => call("GET", "/api/v1/me", from(newAddress(), { key }));
    t.deepEqual(await statuses(4, read), [200, 200, 200, 429]);
  },
);

/** The status with which a stream opens, or the answer instead of it. */
async function open(path: string, address: string, key?: string): Promise<Answer | number> {
  const ending = new AbortController();
  const response = await fetch(service.url + path, {
    signal: ending.signal,
    headers: {
      "x-forwarded-for": address,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
  });
  if (response.status === 200) {
    ending.abort();
    return 200;
  }
  return { status: response.status, headers: response.headers, body: await response.json() };
}

test.serial("429: streams of markets by one address", async (t) => {
  const address = newAddress();
  const id = await makeMarket();
  t.is(await open(`/api/v1/markets/${id}/stream`, address), 200);
  t.is(await open(`/api/stream/market/${id}`, address), 200);
  isRefused(t, (await open(`/api/v1/markets/${id}/stream`, address)) as Answer);
  t.is((await call("GET", `/api/v1/markets/${id}`, from(address))).status, 200);
});

test.serial("429: a stream of changes counts for each 20 markets", async (t) => {
  const id = await makeMarket();
  const streamOf = (count: number) =>
    `/api/v1/stream?markets=${Array.from({ length: count }, () => id).join(",")}`;
  const [one, two] = [newAddress(), newAddress()];
  t.is(await open(streamOf(20), one), 200);
  t.is(await open(`/api/v1/markets/${id}/stream`, one), 200);
  isRefused(t, (await open(streamOf(1), one)) as Answer);
  t.is(await open(streamOf(21), two), 200);
  isRefused(t, (await open(streamOf(1), two)) as Answer);
});

test.serial("429: streams of one user, and of users by one address", async (t) => {
  const address = newAddress();
  const [ann, bob] = [await makeTrader(), await makeTrader()];
  const path = "/api/v1/user/stream";
  t.is(await open(path, newAddress(), ann.key), 200);
  t.is(await open(path, address, ann.key), 200);
  isRefused(t, (await open(path, newAddress(), ann.key)) as Answer);
  t.is(await open(path, address, bob.key), 200);
  t.is(await open(path, address, bob.key), 200);
  isRefused(t, (await open(path, address, (await makeTrader()).key)) as Answer);
});

test.serial("health checks and metrics are not limited", async (t) => {
  const address = newAddress();
  for (const path of ["/healthz", "/readyz", "/metrics", "/nothing"]) {
    const found = await statuses(9, () => call("GET", path, from(address)));
    t.false(found.includes(429), path);
  }
});

test.serial("429: every route is counted before it validates the request", async (t) => {
  const { context } = service;
  const scopes = ["read", "trade"];
  const caller = { userId: noSuchId, apiKeyId: noSuchId, sessionId: noSuchId, scopes };
  const counted: string[] = [];
  const refused = { allowed: false, retryAfterSeconds: 1 };
  const limiter = {
    take: (counters: object) => {
      counted.push(Object.keys(counters).join());
      return Promise.resolve({ ...refused, windows: null });
    },
  };
  const tokens = {
    take: (userId: string) => {
      counted.push(userId);
      const noTokens = { requestsPerMinute: null, burstCapacity: null, remaining: null };
      return Promise.resolve({ ...refused, ...noTokens });
    },
  };
  const { authenticator, site } = context;
  const { count, tokenOf } = makeAccess({ authenticator, limiter, tokens, site });
  const identify = () => Promise.resolve(caller as never);
  const access = { ...context.access, identify, count, tokenOf };
  const app = makeApp({ context: { ...context, access } });
  const { url, close } = await listen(app, { host: "127.0.0.1", port: 0 });
  t.teardown(close);
  const interfaceRoutes = routes.filter(({ path }) => path.startsWith("/api/"));
  t.true(interfaceRoutes.length > 15);
  for (const { method, path } of interfaceRoutes) {
    const options = { method: method.toUpperCase(), ...(method !== "get" && { body: "{" }) };
    const { status } = await fetch(url + path.replace(/:\w+/, "*"), options);
    t.is(status, 429, path);
  }
  t.is(counted.length, interfaceRoutes.length);
});
