import test from "ava";
import { testClock } from "../helpers/database/test_clock.ts";
import { testService } from "../helpers/http/test_service.ts";

/** Browsers that are logged in on the website: their cookie, and the tokens that it gets. */

const service = testService(test);
const { call, makeMarket, makeTrader, operate } = service;

const unauthorized = { error: "Unauthorized" };

const withCookie = (cookie: string) => ({ headers: { cookie: `pgmarkets_session=${cookie}` } });

test.serial(
  "GET /api/auth/token: a session's cookie gets a token, good as a bearer's",
  async (t) => {
    const { userId } = await makeTrader();
    const marketId = await makeMarket();
    const cookie: string = await operate("create_session", { user_id: userId });
    const answer = await call("GET", "/api/auth/token", {
      headers: { cookie: `theme=dark; pgmarkets_session=${cookie}; x=y` },
    });
    t.is(answer.status, 200);
    t.deepEqual(Object.keys(answer.body), ["token", "expiresAt"]);
    t.is(answer.headers.get("cache-control"), "no-store");
    const left = new Date(answer.body.expiresAt).getTime() - Date.now();
    t.true(left > 290_000 && left < 310_000, `expires in ${left} ms`);

    const { token } = answer.body;
    t.is((await call("GET", "/api/v1/me", { key: token })).body.id, userId);
    const body = { marketId, side: "yes", price: 10, quantity: 1 };
    const placed = await call("POST", "/api/v1/orders", { key: token, body });
    t.is(placed.status, 201);
    t.is(placed.body.order.userId, userId);
  },
);

test.serial("401: a token that has expired, and one whose session is gone", async (t) => {
  const clock = testClock(service.database.pool);
  const { userId } = await makeTrader();
  const cookie: string = await operate("create_session", { user_id: userId });
  const token = async () => (await call("GET", "/api/auth/token", withCookie(cookie))).body.token;
  const early = await token();
  await clock.advance(300_000);
  t.is((await call("GET", "/api/v1/me", { key: early })).status, 401);

  const late = await token();
  t.is((await call("GET", "/api/v1/me", { key: late })).status, 200);
  await operate("end_sessions", { user_id: userId, cookie });
  const refused = await call("GET", "/api/v1/me", { key: late });
  t.is(refused.status, 401);
  t.deepEqual(refused.body, unauthorized);
  t.is((await call("GET", "/api/auth/token", withCookie(cookie))).status, 401);
});

test.serial("401: GET /api/auth/token without a session", async (t) => {
  const { userId, key } = await makeTrader();
  const cookie: string = await operate("create_session", { user_id: userId });
  const spoiled = cookie.slice(0, -1) + (cookie.endsWith("0") ? "1" : "0");
  for (const options of [
    {},
    { key },
    { key: cookie },
    withCookie(""),
    withCookie(key),
    withCookie(spoiled),
    { headers: { cookie: `xpgmarkets_session=${cookie}` } },
  ]) {
    const answer = await call("GET", "/api/auth/token", options);
    t.is(answer.status, 401);
    t.deepEqual(answer.body, unauthorized);
  }
  t.is((await call("GET", "/api/v1/me", withCookie(cookie))).status, 401, "no bearer, no entry");
  t.is((await call("GET", "/api/v1/me", { key: cookie })).status, 401, "a cookie is no token");
});
