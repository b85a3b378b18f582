import test from "ava";
import { readDocument } from "../../docs/document.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy, ioc, sell } from "../../helpers/exchange/orders.ts";
import { randomFrom } from "../../helpers/random.ts";

/** The answer of docs/analytics.md finds planted pairs among honest traders. */

const exchange = testExchange(test);
const question = readDocument("docs/analytics.md").blocks.find(
  ({ language, heading }) =>
    language === "sql" && heading === "Who trades with whom, and back again?",
)!;

test("planted pairs are found, and honest traders are not", async (t) => {
  const { clock, database, makeMarkets, makeTraders, placeBatch, position } = exchange;
  const random = randomFrom("wash trades");
  await clock.freeze("2030-01-01T00:00:00Z");
  const markets = await makeMarkets(3);
  const [makers, honest, pairs] = [
    await makeTraders(2, { cents: 100_000_000 }),
    await makeTraders(10, { cents: 10_000_000 }),
    await makeTraders(4, { cents: 10_000_000 }),
  ];
  const take = async (market: string, trader: string): Promise<void> => {
    const side = random.anyOf(["yes", "no"] as const);
    const { quantity } = await position(market, trader, side);
    const request =
      quantity > 0 && random.chance(0.5)
        ? sell(side, quantity, undefined, ioc)
        : buy(side, random.between(5, 25), undefined, ioc);
    await placeBatch(market, [[trader, request]]);
  };
  for (let round = 0; round < 40; round++) {
    for (const market of markets) {
      const fair = random.between(35, 65);
      for (const maker of makers) {
        const away = random.between(1, 3);
        await placeBatch(market, [
          [maker, buy("yes", 60, fair - away)],
          [maker, buy("no", 60, 100 - fair - away)],
        ]);
      }
      for (const trader of random.shuffled(honest).slice(0, 4)) await take(market, trader);
    }
    // The first pair is in one market, the second in all. Both trade with others in between.
    const [one, other] = round % 2 === 0 ? pairs.slice(0, 2) : pairs.slice(2, 4);
    const market = round % 2 === 0 ? markets[0] : random.anyOf(markets);
    await passTo(market, one!, other!);
    await take(market, one!);
    await passTo(market, other!, one!);
    await take(market, other!);
  }

  /** Inside the spread, so that nobody else is first. */
  async function passTo(market: string, from: string, to: string): Promise<void> {
    const { bids, asks } = await exchange.book(market);
    const priceOf = (level: string | undefined, none: number) =>
      level === undefined ? none : Number(level.split(" @ ")[1]);
    const [bid, ask] = [priceOf(bids[0], 1), priceOf(asks[0], 99)];
    if (ask - bid < 2) return;
    const price = random.between(bid + 1, ask - 1);
    await placeBatch(market, [[from, buy("no", 20, 100 - price)]]);
    await placeBatch(market, [[to, buy("yes", 20, price)]]);
  }

  const pool = database.connectAs("exchange_analyst");
  const { rows } = await pool.query(question.text);
  const { rows: users } = await pool.query("select user_id, handle from analytics.users");
  const handleOf = (id: string): string => users.find((it) => it.user_id === id).handle;
  const planted = [pairs.slice(0, 2), pairs.slice(2)].map((pair) => pair.map(handleOf).sort());
  const found = (rows as { handle: string; other: string; market: string }[]).map(
    ({ handle, other, market }) => ({ pair: [handle, other].sort(), market }),
  );
  t.log(rows);
  t.deepEqual(
    found
      .filter(({ market }) => market === "(all markets)")
      .map(({ pair }) => pair)
      .sort(),
    planted.sort(),
  );
  for (const { pair } of found) {
    t.true(
      planted.some((it) => it.join() === pair.join()),
      pair.join(),
    );
  }
});
