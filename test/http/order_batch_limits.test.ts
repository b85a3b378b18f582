import test from "ava";
import { testService } from "../helpers/http/test_service.ts";
import type { Answer, Trader } from "../helpers/http/test_service.ts";

/** POST /orders/batch takes a token for each order. */

const service = testService(test, { limited: true });
const { call, makeMarket, makeTrader } = service;

const send = (trader: Trader, body: unknown): Promise<Answer> =>
  call("POST", "/api/v1/orders/batch", { key: trader.key, body });
const orders = (marketId: string, count: number) =>
  Array.from({ length: count }, () => ({ marketId, side: "yes", price: 10, quantity: 1 }));
const remaining = ({ headers }: Answer) => headers.get("x-ratelimit-remaining");
const placed = async ({ key }: Trader): Promise<number> =>
  (await call("GET", "/api/v1/orders", { key })).body.data.length;

/** Makes tokens come back so slowly that none does while a test runs. */
const slowly = ({ userId }: Trader) =>
  service.operate("set_rate_policy", {
    ...{ user_id: userId, tier: "custom", requests_per_minute: 1, burst_capacity: 10 },
  });

test("429: too few tokens for the whole batch, with the time until there are enough", async (t) => {
  const [trader, marketId] = [await makeTrader(), await makeMarket()];
  await slowly(trader);
  const first = await send(trader, { orders: orders(marketId, 7) });
  t.deepEqual([first.status, remaining(first)], [200, "3"]);
  const refused = await send(trader, { orders: orders(marketId, 5) });
  t.is(refused.status, 429);
  t.deepEqual(refused.body, { error: "Too many requests" });
  t.is(remaining(refused), "3", "it took nothing");
  // Two tokens are missing, and one comes back a minute; the first is on its way.
  const wait = Number(refused.headers.get("retry-after"));
  t.true(wait > 60 && wait <= 120, `${wait} s`);
  t.is(await placed(trader), 7);
  const fitting = await send(trader, { orders: orders(marketId, 3), atomic: true });
  t.deepEqual([fitting.status, remaining(fitting)], [200, "0"]);
});

test("400 INVALID_REQUEST: more orders than the burst could never pass, and take nothing", async (t) => {
  const [trader, marketId] = [await makeTrader(), await makeMarket()];
  await slowly(trader);
  const answer = await send(trader, { orders: orders(marketId, 11) });
  t.is(answer.status, 400);
  t.is(answer.body.code, "INVALID_REQUEST");
  t.is(answer.body.issues[0].path, "orders");
  t.is(answer.headers.get("retry-after"), null);
  t.deepEqual([remaining(answer), answer.headers.get("x-ratelimit-burst")], ["10", "10"]);
  t.is(await placed(trader), 0);
});

test("malformed and rejected orders take a token each, a malformed batch takes one", async (t) => {
  const [trader, marketId] = [await makeTrader(), await makeMarket()];
  await slowly(trader);
  t.is(remaining(await send(trader, { orders: [{}, {}, ...orders(marketId, 1)] })), "7");
  t.is(remaining(await send(trader, { orders: [] })), "6");
  t.is(remaining(await send(trader, "{")), "5");
});
