import { randomBytes } from "node:crypto";
import test from "ava";
import { formatSecret } from "../../src/secrets.ts";
import { accountSchema } from "../../src/api/portfolio.ts";
import { until } from "../helpers/until.ts";
import { testService } from "../helpers/http/test_service.ts";

const service = testService(test);
const { call, makeTrader, operate } = service;

const noSuchId = "01900000-0000-7000-8000-000000000000";

test("200: the caller's account", async (t) => {
  const { key, userId } = await makeTrader({ fundsCents: 12_345 });
  const answer = await call("GET", "/api/v1/me", { key });
  t.is(answer.status, 200);
  t.is(answer.headers.get("cache-control"), "no-store");
  t.notThrows(() => accountSchema.parse(answer.body));
  t.like(answer.body, { id: userId, balance: 12_345 });
});

for (const [method, path] of [
  ["GET", "/api/v1/me"],
  ["GET", "/api/v1/orders?status=nonsense"],
  ["GET", "/api/v1/orders/nonsense"],
  ["GET", "/api/v1/orders/%ZZ"],
  ["POST", "/api/v1/orders"],
  ["DELETE", `/api/v1/orders/${noSuchId}`],
] as const) {
  test(`401 UNAUTHORIZED before anything else: ${method} ${path}`, async (t) => {
    const { key } = await makeTrader();
    const headers = [
      {},
      { authorization: "" },
      { authorization: "Bearer" },
      { authorization: "Bearer nonsense" },
      { authorization: key },
      { authorization: `Basic ${key}` },
      { authorization: `Bearer ${key}x` },
      { authorization: `Bearer ${key} ${key}` },
      { authorization: `Bearer ${formatSecret(randomBytes(32), "jk_")}` },
    ];
    for (const given of headers) {
      const answer = await call(method, path, {
        headers: given,
        ...(method === "POST" && { body: "{no JSON" }),
      });
      t.is(answer.status, 401);
      t.deepEqual(answer.body, { error: "Unauthorized" });
      t.is(answer.headers.get("cache-control"), "no-store");
    }
  });
}

test("the scheme's name may be written in any case", async (t) => {
  const { key } = await makeTrader();
  const answer = await call("GET", "/api/v1/me", { headers: { authorization: `bearer ${key}` } });
  t.is(answer.status, 200);
});

test("a revoked key is refused when it leaves the cache; the user's other keys go on", async (t) => {
  const { key, userId } = await makeTrader();
  const other = await operate("create_api_key", { user_id: userId, name: "other" });
  t.is((await call("GET", "/api/v1/me", { key })).status, 200);
  t.is((await call("GET", "/api/v1/me", { key: other })).status, 200);
  const { rows } = await service.database.pool.query(
    "select id from admin.list_api_keys(user_id => $1) where name = 'test'",
    [userId],
  );
  await operate("revoke_api_key", { key_id: rows[0].id });
  service.context.authenticator.forget(rows[0].id);
  t.is((await call("GET", "/api/v1/me", { key })).status, 401);
  t.is((await call("GET", "/api/v1/me", { key: other })).status, 200);
});

test("that a key is in use is recorded", async (t) => {
  const { key, userId } = await makeTrader();
  await call("GET", "/api/v1/me", { key });
  const lastUse = async () => {
    const { rows } = await service.database.pool.query(
      "select last_used_at from admin.list_api_keys(user_id => $1)",
      [userId],
    );
    return rows[0].last_used_at;
  };
  await until("it is recorded", async () => (await lastUse()) !== null);
  t.true((await lastUse()) instanceof Date);
});
