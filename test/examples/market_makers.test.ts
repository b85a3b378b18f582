import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import type { ExecutionContext } from "ava";
import { complaintsAbout } from "../helpers/compiler.ts";
import { randomFrom } from "../helpers/random.ts";
import { readText } from "../helpers/repository.ts";
import { until } from "../helpers/until.ts";
import { openCuttingProxy } from "../helpers/http/cutting_proxy.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";
import { openLossyProxy } from "./lossy_proxy.ts";
import { startExample, testWithPrograms, untilEqual } from "./run_example.ts";
import type { RunningExample } from "./run_example.ts";

const service = testService(test);
const { call, makeMarket, makeTrader, makeTraders, operate } = service;

test("the market maker in TypeScript compiles, and quotes", async (t) => {
  await playMarketMaker(t, "In TypeScript", ({ directory }) => {
    t.deepEqual(complaintsAbout(join(directory, "examples/market_maker.ts")), []);
  });
});

testWithPrograms(["curl", "jq"], "the market maker in curl quotes", async (t) => {
  await playMarketMaker(t, "In curl");
});

testWithPrograms(["curl", "jq"], "a wrong key or market ends the one in curl", async (t) => {
  const { key } = await makeTrader();
  const unknown = "01900000-0000-7000-8000-000000000000";
  for (const [environment, reason] of [
    [{ KEY: "jk_1", MARKET: await makeMarket() }, /: 401 Unauthorized$/m],
    [{ KEY: key, MARKET: unknown }, /: 404 Market not found$/m],
  ] as const) {
    const example = await startExample(t, "In curl", { BASE: service.url, ...environment });
    t.is(await example.ended, 1, example.output());
    t.regex(example.output(), reason);
  }
});

test("the market maker in TypeScript has fewer than 80 lines", (t) => {
  t.true(readText("examples/market_maker.ts").trimEnd().split("\n").length < 80);
});

test("two market makers in TypeScript trade through connections that break", async (t) => {
  t.timeout(240_000);
  const markets = [await makeMarket(), await makeMarket()];
  const makers = await makeTraders(2);
  const taker = await makeTrader();
  const random = randomFrom("market_makers");
  const proxy = await openCuttingProxy(t, service.url);
  const examples = await Promise.all(
    makers.map(({ key }) =>
      startExample(t, "In TypeScript", { BASE: proxy.url, KEY: key, MARKET: markets.join(",") }),
    ),
  );
  const listOf = async ({ key }: Trader, list: string) =>
    (await call("GET", `/api/v1/${list}`, { key })).body.data;
  const outputs = () => examples.map(({ output }) => output()).join("\n");
  await until(
    "both have traded in both markets, and connections broke everywhere",
    async () => {
      const marketId = random.anyOf(markets);
      const side = random.anyOf(["yes", "no"]);
      const body = { marketId, side, price: null, quantity: random.between(1, 15) };
      await call("POST", "/api/v1/orders", { key: taker.key, body });
      await delay(100);
      const fills = await Promise.all(makers.map((maker) => listOf(maker, "me/fills?limit=200")));
      const traded = fills.map((rows) => new Set(rows.map((fill: any) => fill.marketId)).size);
      return (
        traded.every((count) => count === markets.length) &&
        Object.values(proxy.cuts).every((count) => count > 3)
      );
    },
    180_000,
  );
  const switchOf = async ({ key }: Trader) =>
    (await call("GET", "/api/v1/orders/dead-man", { key })).body.expiresAt;
  for (const [index, maker] of makers.entries()) {
    // The maker goes on renewing its switch: the exchange's time is read after it.
    const expiresAt = Date.parse(await switchOf(maker));
    const { body: exchange } = await call("GET", "/api/v1/exchange");
    const leftMs = expiresAt - Date.parse(exchange.time);
    t.true(leftMs > 0 && leftMs <= 31_000, `the dead man's switch fires in ${leftMs} ms`);
    await examples[index]!.stop();
    t.deepEqual(await listOf(maker, "orders"), [], outputs());
    t.is(await switchOf(maker), null, "a program that has ended needs no switch");
    const held = (await call("GET", "/api/v1/me/portfolio", { key: maker.key })).body.positions;
    for (const marketId of markets) {
      const shares = (side: string) =>
        held.find((one: any) => one.marketId === marketId && one.side === side)?.quantity ?? 0;
      t.true(Math.abs(shares("yes") - shares("no")) <= 100);
    }
  }
  t.notRegex(outputs(), /ApiError/);
  const { rows } = await service.database.pool.query("select * from ledger.verify()");
  t.deepEqual(rows, []);
});

test("a market maker that may not see all its orders ends, and leaves none", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const order = { marketId, side: "yes", price: 1, quantity: 1 };
  for (let count = 0; count < 200; count += 10) {
    const body = { orders: Array(10).fill(order) };
    t.is((await call("POST", "/api/v1/orders/batch", { key, body })).status, 200);
  }
  const example = await startExample(t, "In TypeScript", {
    ...{ BASE: service.url, KEY: key, MARKET: await makeMarket() },
  });
  t.is(await example.ended, 1, example.output());
  t.regex(example.output(), /There may be more orders than it can see/);
  t.deepEqual((await call("GET", "/api/v1/orders", { key })).body.data, []);
});

// Objects that the program lost its reference to are collected before Ctrl-C comes.
const collectGarbage = `
  import { setFlagsFromString } from "node:v8";
  import { runInNewContext } from "node:vm";
  setFlagsFromString("--expose-gc");
  setInterval(runInNewContext("gc"), 100).unref();
`;

/** Quotes around a price, meets a lost answer and a 429, follows the price, and is ended. */
async function playMarketMaker(
  t: ExecutionContext,
  heading: string,
  whileItQuotes: (example: RunningExample) => void = () => undefined,
): Promise<void> {
  const marketId = await makeMarket();
  const [ann, bob, maker] = await makeTraders(3);
  const place = async (trader: Trader, side: "yes" | "no", price: number, quantity: number) => {
    const body = { marketId, side, price, quantity };
    const { status } = await call("POST", "/api/v1/orders", { key: trader.key, body });
    t.is(status, 201);
  };
  const ordersOfMaker = async (status: string): Promise<string[]> => {
    const path = `/api/v1/orders?marketId=${marketId}&status=${status}`;
    const { body } = await call("GET", path, { key: maker.key });
    return body.data
      .map((order: any) => `${order.side} ${order.quantity} @ ${order.price}`)
      .toSorted();
  };
  await place(ann, "no", 40, 10);
  await place(bob, "yes", 60, 1);
  // One request every two seconds: the second of two orders is refused at first.
  await operate("set_rate_policy", {
    user_id: maker.userId,
    tier: "custom",
    requests_per_minute: 30,
    burst_capacity: 1,
  });
  const proxy = await openLossyProxy(t, service.url);

  const example = await startExample(t, heading, {
    BASE: proxy.url,
    KEY: maker.key,
    MARKET: marketId,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(collectGarbage)}`,
  });
  const first = ["no 10 @ 38", "yes 10 @ 58"];
  await untilEqual(t, example, () => ordersOfMaker("open"), first);
  t.deepEqual(await ordersOfMaker("all"), first, "the order whose answer got lost was placed once");
  t.is(proxy.statuses[0], 201);
  t.true(proxy.statuses.includes(200), "its repetition was a replay");
  t.true(proxy.statuses.includes(429), "the maker was told to wait");
  whileItQuotes(example);

  // Bob takes the bid for YES, so the last price is 58.
  await place(bob, "no", 42, 10);
  await untilEqual(t, example, () => ordersOfMaker("open"), ["no 10 @ 40", "yes 10 @ 56"]);

  await example.stop();
  t.deepEqual(await ordersOfMaker("open"), [], example.output());
  const { body } = await call("GET", "/api/v1/me/portfolio", { key: maker.key });
  t.deepEqual(
    body.positions.map(({ side, quantity }: any) => `${quantity} ${side}`),
    ["10 yes"],
  );
  const { rows } = await service.database.pool.query("select * from ledger.verify()");
  t.deepEqual(rows, []);
}
