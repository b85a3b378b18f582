import { randomUUID } from "node:crypto";
import test from "ava";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";

/** POST /orders/cancel-all and the dead man's switch, from outside. */

const service = testService(test);
const { call, makeMarket, makeTrader, operate } = service;

const orders = "/api/v1/orders";

async function rest({ key }: Trader, marketId: string, price: number): Promise<string> {
  const body = { marketId, side: "yes", price, quantity: 1 };
  const placed = await call("POST", orders, { key, body });
  return placed.body.order.id;
}

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

test("both work when no trading requests are left, and have a limit of their own", async (t) => {
  const market = await makeMarket();
  const ann = await makeTrader();
  const { key } = ann;
  await rest(ann, market, 10);
  const policy = { requests_per_minute: 1, burst_capacity: 1 };
  await operate("set_rate_policy", { user_id: ann.userId, tier: "custom", ...policy });
  const place = () =>
    call("POST", orders, { key, body: { marketId: market, side: "yes", price: 9, quantity: 1 } });
  await place();
  t.is((await place()).status, 429);
  const body = { timeoutMs: 300_000 };
  t.is((await call("PUT", `${orders}/dead-man`, { key, body })).status, 200);
  t.is((await call("POST", `${orders}/cancel-all`, { key })).status, 200);
  t.is(await openOrders(ann), 0);
});
