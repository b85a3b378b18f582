import test from "ava";
import type { ExecutionContext } from "ava";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";
import { until } from "../helpers/until.ts";
import { startExample, testWithPrograms, untilEqual } from "./run_example.ts";
import type { RunningExample } from "./run_example.ts";

/** What the market makers bid in books and on accounts that are far from the usual ones. */

const service = testService(test);
const { call, makeMarket, makeTrader } = service;

async function place(trader: Trader, marketId: string, ...order: [string, number, number]) {
  const [side, price, quantity] = order;
  const body = { marketId, side, price, quantity };
  const { status } = await call("POST", "/api/v1/orders", { key: trader.key, body });
  if (status !== 201) throw new Error(`An order got ${status}`);
}

async function ordersOf({ key }: Trader, marketId: string, status = "open"): Promise<string[]> {
  const path = `/api/v1/orders?marketId=${marketId}&status=${status}`;
  const { body } = await call("GET", path, { key });
  return body.data.map(({ side, price }: any) => `${side} @ ${price}`).toSorted();
}

const start = (
  t: ExecutionContext,
  heading: string,
  { key }: Trader,
  marketId: string,
): Promise<RunningExample> =>
  startExample(t, heading, { BASE: service.url, KEY: key, MARKET: marketId });

/** Declares a test of each market maker that has a model of the whole book. */
function testBoth(
  title: string,
  run: (t: ExecutionContext, heading: string) => Promise<void>,
): void {
  test(`${title}, in TypeScript`, (t) => run(t, "In TypeScript"));
  testWithPrograms(["python3"], `${title}, in Python`, (t) => run(t, "In Python"));
}

testBoth(
  "a bid that is rejected does not hold back that for the other side",
  async (t, heading) => {
    const marketId = await makeMarket();
    const others = await makeTrader();
    await place(others, marketId, "yes", 89, 10);
    await place(others, marketId, "no", 9, 10);
    // 10 shares at 88 cents are too many, and 10 at 8 are not.
    const maker = await makeTrader({ fundsCents: 200 });
    const example = await start(t, heading, maker, marketId);
    await untilEqual(t, example, () => ordersOf(maker, marketId), ["no @ 8"]);
  },
);

testBoth(
  "without offers, it bids around the best bid if that is above the last price",
  async (t, heading) => {
    const marketId = await makeMarket();
    const [maker, others] = [await makeTrader(), await makeTrader()];
    await place(others, marketId, "yes", 60, 10);
    const example = await start(t, heading, maker, marketId);
    await untilEqual(t, example, () => ordersOf(maker, marketId), ["no @ 38", "yes @ 58"]);
  },
);

testBoth(
  "without bids, it bids around the best offer if that is below the last price",
  async (t, heading) => {
    const marketId = await makeMarket();
    const [maker, others] = [await makeTrader(), await makeTrader()];
    // An offer of YES at 40.
    await place(others, marketId, "no", 60, 10);
    const example = await start(t, heading, maker, marketId);
    await untilEqual(t, example, () => ordersOf(maker, marketId), ["no @ 58", "yes @ 38"]);
  },
);

testBoth("with far more shares of NO, it bids for YES below the middle", async (t, heading) => {
  const marketId = await makeMarket();
  const [maker, others] = [await makeTrader(), await makeTrader()];
  await place(others, marketId, "yes", 50, 1500);
  await place(maker, marketId, "no", 50, 1500);
  await place(others, marketId, "yes", 40, 10);
  await place(others, marketId, "no", 40, 10);
  const example = await start(t, heading, maker, marketId);
  // The middle is 50. The one in Python leans by a cent.
  const expected = heading === "In Python" ? "yes @ 49" : "yes @ 48";
  await untilEqual(t, example, () => ordersOf(maker, marketId), [expected]);
});

testBoth("it makes no bid until the dead man's switch is set", async (t, heading) => {
  const [marketId, elsewhere] = [await makeMarket(), await makeMarket()];
  const maker = await makeTrader();
  const { key } = maker;
  // The switch has fired, and an order is still to be cancelled.
  await place(maker, elsewhere, "yes", 10, 1);
  await call("PUT", "/api/v1/orders/dead-man", { key, body: { timeoutMs: 300_000 } });
  await service.database.pool.query(
    `update trading.dead_man_switches as s set expires_at = core.now()
     from trading.traders as u where u.user_id = s.user_id and u.public_id = $1`,
    [maker.userId],
  );
  const example = await start(t, heading, maker, marketId);
  const rejections = () => example.output().match(/switch has fired/g)?.length ?? 0;
  await until("it was rejected again", async () => rejections() >= 2, 60_000);
  t.deepEqual(await ordersOf(maker, marketId, "all"), [], example.output());

  await call("POST", "/api/v1/orders/cancel-all", { key, body: {} });
  await untilEqual(t, example, () => ordersOf(maker, marketId), ["no @ 48", "yes @ 48"]);
  const { body } = await call("GET", "/api/v1/orders/dead-man", { key });
  t.not(body.expiresAt, null);
});
