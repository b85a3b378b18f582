import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { randomFrom } from "../../helpers/random.ts";

/** api.list_sparklines: prices of the last week in equal steps. */

const exchange = testExchange(test);
const { clock, makeMarketWith, makeTraders, place, work } = exchange;

const STEP_MS = 4 * 3_600_000;
const STEPS = 42;

const sparklines = async (marketIds: string[]): Promise<any> =>
  JSON.parse(await exchange.calls.listSparklines({ marketIds }));

test.serial("each step has the last price before its end, the last one that of now", async (t) => {
  const { between, chance } = randomFrom("sparklines");
  const [ann, bob] = await makeTraders(2, { cents: 100_000_000 });
  let now = Date.parse("2030-01-01T22:30:00Z");
  await clock.freeze(new Date(now).toISOString());
  const [market, quiet] = await exchange.makeMarkets(2);
  const trades: { at: number; price: number }[] = [];

  for (let number = 0; number < 60; number++) {
    const price = between(20, 80);
    await place(market, ann, buy("yes", 1, price));
    await place(market, bob, buy("no", 1, 100 - price));
    trades.push({ at: now, price });
    if (chance(0.7)) await work("make_candles");
    if (number % 6 === 0) {
      // What has no candle yet shows in the last step only.
      await work("make_candles");
      const lastStart = Math.floor(now / STEP_MS) * STEP_MS;
      const ends = Array.from({ length: STEPS }, (_, at) => lastStart - (STEPS - 2 - at) * STEP_MS);
      const prices = ends.map((end) => trades.findLast(({ at }) => at < end)?.price ?? null);
      const { from, stepSeconds, data } = await sparklines([market, quiet, crypto.randomUUID()]);
      t.is(Date.parse(from), lastStart - (STEPS - 1) * STEP_MS);
      t.is(stepSeconds * 1000, STEP_MS);
      t.is(data.length, 2);
      t.deepEqual(data.find(({ marketId }: any) => marketId === market).prices, prices);
      const none = Array.from({ length: STEPS }, () => null);
      t.deepEqual(data.find(({ marketId }: any) => marketId === quiet).prices, none);
    }
    const ms = between(60_000, chance(0.1) ? 100_000_000 : 10_000_000);
    now += ms;
    await clock.advance(ms);
  }
});

test.serial("the last price needs no candle; without markets there is no line", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await place(market, ann, buy("yes", 1, 33));
  await place(market, bob, buy("no", 1, 67));
  const { data } = await sparklines([market]);
  t.deepEqual(data[0].prices.slice(-2), [null, 33]);
  t.deepEqual((await sparklines([])).data, []);
});
