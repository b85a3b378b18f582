import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import { pino } from "pino";
import { keyScopeOf } from "../../src/api/route.ts";
import type { Route } from "../../src/api/route.ts";
import { routes } from "../../src/api/routes.ts";
import { asServerPools } from "../../src/database/server_pools.ts";
import { serve } from "../../src/server/start_server.ts";
import type { RunningServer } from "../../src/server/start_server.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { bodyFor } from "../helpers/http/bodies.ts";
import { openEvents } from "../helpers/http/event_source.ts";
import type { EventSource } from "../helpers/http/event_source.ts";
import { callService, testService } from "../helpers/http/test_service.ts";
import type { Answer } from "../helpers/http/test_service.ts";
import { until } from "../helpers/until.ts";

/** What API keys may do, from where and until when. Made from the table of routes. */

const service = testService(test);
const { call, makeEvent, makeMarket, makeTrader, makeTraders, operate } = service;

/** Behind one proxy, which says where requests come from. */
let behindProxy: RunningServer;
test.serial.before("listen behind a proxy", async () => {
  behindProxy = await serve({
    pools: asServerPools(service.database.connectAs("exchange_api")),
    config: { host: "127.0.0.1", port: 0, trustProxy: 1 },
    logger: pino({ level: "silent" }),
  });
});
test.after.always("stop listening", async () => {
  await behindProxy.close();
});

const withKey = routes.filter(({ auth }) => auth === "key");
const commands = [
  ...["placeOrder", "placeOrders", "amendOrder", "cancelOrder", "cancelOrders"],
  ...["cancelAllOrders", "setDeadMan", "splitPosition", "mergePosition"],
  ...["convertShares", "redeemShares", "disputeResolution"],
];
const keyScope = {
  error: "The API key does not have the scope for this",
  code: "KEY_SCOPE",
};
const unauthorized = { error: "Unauthorized" };

interface Powers {
  scopes?: string[];
  expires_at?: string;
  allowed_addresses?: string[];
}

const makeKey = (user_id: string, powers: Powers): Promise<string> =>
  operate("create_api_key", { user_id, name: "key", ...powers });

/** A trader with an order that rests, and with shares. */
async function makeOwner() {
  const eventId = await makeEvent();
  const marketId = await makeMarket({ event_id: eventId });
  const [owner, other] = await makeTraders(2);
  const place = (key: string, order: object) =>
    call("POST", "/api/v1/orders", { key, body: { marketId, quantity: 5, ...order } });
  await place(other.key, { side: "no", price: 40 });
  await place(owner.key, { side: "yes", price: 60 });
  const pair = { marketId, quantity: 1 };
  await call("POST", "/api/v1/positions/split", { key: owner.key, body: pair });
  const resolvedId = await makeMarket();
  const set = { marketId: resolvedId, quantity: 1 };
  await call("POST", "/api/v1/positions/split", { key: owner.key, body: set });
  await operate("resolve_market", { market_id: resolvedId, outcome: "yes" });
  const { body } = await place(owner.key, { side: "yes", price: 10 });
  return { owner, eventId, marketId, resolvedId, orderId: body.order.id as string };
}

const viewOf = async (key: string) => [
  (await call("GET", "/api/v1/me/portfolio", { key })).body,
  (await call("GET", "/api/v1/orders?status=all", { key })).body,
  (await call("GET", "/api/v1/orders/dead-man", { key })).body,
];

test("commands need the scope trade, everything else read", (t) => {
  const needTrade = withKey.filter((route) => keyScopeOf(route) === "trade");
  t.deepEqual(needTrade.map(({ operationId }) => operationId).toSorted(), commands.toSorted());
  for (const route of routes) {
    t.is(keyScopeOf(route) === undefined, route.auth !== "key", route.path);
  }
});

type Owned = Awaited<ReturnType<typeof makeOwner>>;

async function callRoute(route: Route, key: string, owned: Owned) {
  const { eventId, marketId, resolvedId, orderId } = owned;
  const body = route.request.body && { body: bodyFor(route, orderId, marketId) };
  const [, , , of] = route.path.split("/");
  const id = of === "events" ? eventId : of === "markets" ? resolvedId : orderId;
  return await call(route.method.toUpperCase(), route.path.replace(":id", id), {
    key,
    ...body,
  });
}

for (const route of withKey) {
  const scope = commands.includes(route.operationId) ? "trade" : "read";
  const otherScope = scope === "trade" ? "read" : "trade";
  const name = `${route.method.toUpperCase()} ${route.path}`;

  test(`403 KEY_SCOPE: ${name} with a key that may only ${otherScope}`, async (t) => {
    const owned = await makeOwner();
    const { owner } = owned;
    const key = await makeKey(owner.userId, { scopes: [otherScope] });
    const before = await viewOf(owner.key);
    const answer = await callRoute(route, key, owned);
    t.is(answer.status, 403);
    t.deepEqual(answer.body, keyScope);
    t.is(answer.headers.get("x-error-code"), "KEY_SCOPE");
    t.deepEqual(await viewOf(owner.key), before);
    // It comes before anything is said of the request.
    if (route.request.body !== undefined) {
      const path = route.path.replace(":id", "no-id");
      const method = route.method.toUpperCase();
      t.is((await call(method, path, { key, body: "{no JSON" })).status, 403);
    }
  });

  if (route.rateLimit === "stream") continue;
  test(`${name} with a key that may only ${scope}`, async (t) => {
    const owned = await makeOwner();
    const key = await makeKey(owned.owner.userId, { scopes: [scope] });
    if (route.operationId === "getOwnProof") await operate("publish_proof", {});
    const answer = await callRoute(route, key, owned);
    t.true(answer.status < 300, JSON.stringify(answer.body));
  });
}

test("a key that may only read opens the user's stream", async (t) => {
  const { userId } = await makeTrader();
  const key = await makeKey(userId, { scopes: ["read"] });
  const stream = await openUserStream(key);
  t.is(stream.status, 200);
  stream.close();
});

function openUserStream(key: string, headers: Record<string, string> = {}): Promise<EventSource> {
  return openEvents(`${service.url}/api/v1/user/stream`, {
    authorization: `Bearer ${key}`,
    ...headers,
  });
}

/** A key that expires after so many milliseconds, by a clock that stands. */
async function makeExpiringKey(ms: number) {
  const clock = testClock(service.database.pool);
  await clock.freeze();
  const { rows } = await service.database.pool.query("select core.now() as now");
  const { userId } = await makeTrader();
  const now = rows[0].now as Date;
  const expires_at = new Date(now.getTime() + ms).toISOString();
  return { clock, key: await makeKey(userId, { expires_at }) };
}

test.serial("a key is refused from the moment at which it expires, also if cached", async (t) => {
  const { clock, key } = await makeExpiringKey(20);
  try {
    t.is((await me(key)).status, 200);
    await clock.advance(20);
    await delay(30);
    const refused = await me(key);
    t.is(refused.status, 401);
    t.deepEqual(refused.body, unauthorized);
  } finally {
    await clock.release();
  }
});

test.serial("a stream ends when its key expires", async (t) => {
  const { clock, key } = await makeExpiringKey(300);
  try {
    const openedAt = performance.now();
    const stream = await openUserStream(key);
    t.is(stream.status, 200);
    // The clock stands, so no later check finds the key expired.
    await stream.ended;
    t.true(performance.now() - openedAt >= 299);
    t.false(stream.failed());
    await clock.advance(300);
    t.is((await openUserStream(key)).status, 401);
  } finally {
    await clock.release();
  }
});

const me = (key: string, headers: Record<string, string> = {}, url = service.url) =>
  callService(url, "GET", "/api/v1/me", { key, headers });

test("401: a key used from elsewhere, as if it were unknown", async (t) => {
  const { userId } = await makeTrader();
  const here = await makeKey(userId, { allowed_addresses: ["127.0.0.0/8"] });
  const elsewhere = await makeKey(userId, { allowed_addresses: ["192.0.2.7", "::/0"] });
  t.is((await me(here)).status, 200);
  const refused = await me(elsewhere);
  t.is(refused.status, 401);
  t.deepEqual(refused.body, unauthorized);
  const stream = await openUserStream(elsewhere);
  t.is(stream.status, 401);
  t.deepEqual(stream.body, unauthorized);
});

test("without a trusted proxy no header says where a request comes from", async (t) => {
  const { userId } = await makeTrader();
  const key = await makeKey(userId, { allowed_addresses: ["192.0.2.7"] });
  for (const headers of [
    { "x-forwarded-for": "192.0.2.7" },
    { "x-real-ip": "192.0.2.7" },
    { forwarded: "for=192.0.2.7" },
    { "client-ip": "192.0.2.7", "true-client-ip": "192.0.2.7", "cf-connecting-ip": "192.0.2.7" },
  ]) {
    t.is((await me(key, headers)).status, 401, JSON.stringify(headers));
    t.is((await openUserStream(key, headers)).status, 401, JSON.stringify(headers));
  }
});

test("behind a proxy the address that the proxy adds counts, and no other", async (t) => {
  const { userId } = await makeTrader();
  const key = await makeKey(userId, { allowed_addresses: ["192.0.2.7", "2001:db8:1::/48"] });
  const expectations: [forwarded: string | undefined, status: number][] = [
    ["192.0.2.7", 200],
    ["203.0.113.9, 192.0.2.7", 200],
    ["192.0.2.7, 203.0.113.9", 401],
    ["::ffff:192.0.2.7", 200],
    ["::FFFF:C000:207", 200],
    ["::ffff:192.0.2.8", 401],
    ["2001:db8:1:2::3", 200],
    ["2001:db8:2::3", 401],
    ["192.0.2.7:80", 401],
    ["192.0.2.7/32", 401],
    ["192.0.2.7'", 401],
    ["unknown", 401],
    [undefined, 401],
  ];
  const ask = (forwarded: string | undefined): Promise<Answer> =>
    me(key, forwarded === undefined ? {} : { "x-forwarded-for": forwarded }, behindProxy.url);
  // Twice: the second answers come from the cache.
  for (const [forwarded, status] of [...expectations, ...expectations]) {
    t.is((await ask(forwarded)).status, status, forwarded);
  }
});

test("a key that is revoked is refused at each address within a second", async (t) => {
  const { userId } = await makeTrader();
  const key = await makeKey(userId, { allowed_addresses: ["192.0.2.0/24"] });
  const addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
  const statuses = () =>
    Promise.all(
      addresses.map(
        async (address) => (await me(key, { "x-forwarded-for": address }, behindProxy.url)).status,
      ),
    );
  t.deepEqual(await statuses(), [200, 200, 200]);
  const { rows } = await service.database.pool.query(
    "select key_id from admin.api_keys where user_id = $1 and allowed_addresses is not null",
    [userId],
  );
  await operate("revoke_api_key", { key_id: rows[0].key_id });
  const tookMs = await until("it is refused", async () =>
    (await statuses()).every((status) => status === 401),
  );
  // An answer that is cached would be given for five seconds.
  t.true(tookMs < 3000, `${tookMs} ms`);
});

test("the last use has the address from which it came", async (t) => {
  const { userId } = await makeTrader();
  const key = await makeKey(userId, { scopes: ["read"] });
  await me(key, { "x-forwarded-for": "::ffff:198.51.100.4" }, behindProxy.url);
  const lastUse = async () => {
    const { rows } = await service.database.pool.query(
      "select last_used_at, last_used_address from admin.api_keys where user_id = $1 and scopes = '{read}'",
      [userId],
    );
    return rows[0];
  };
  await until("it is recorded", async () => (await lastUse()).last_used_at !== null);
  t.is((await lastUse()).last_used_address, "198.51.100.4");
});

test("a refused use is not recorded", async (t) => {
  const { userId } = await makeTrader();
  const key = await makeKey(userId, { allowed_addresses: ["192.0.2.7"] });
  t.is((await me(key)).status, 401);
  const { rows } = await service.database.pool.query(
    "select last_used_at from admin.api_keys where user_id = $1 and allowed_addresses is not null",
    [userId],
  );
  t.deepEqual(rows, [{ last_used_at: null }]);
});
