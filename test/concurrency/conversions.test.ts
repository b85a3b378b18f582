import test from "ava";
import { contend } from "../helpers/exchange/contention.ts";
import { buy } from "../helpers/exchange/orders.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { effort, randomFrom } from "../helpers/random.ts";

/** Shares of exclusive events are exchanged while others trade, exchange and resolve there. */

const exchange = testExchange(test, { sessions: 20 });
const { balance, makeMarket, makeTraders, operate, position, verify } = exchange;

const CASH = 100_000;
const SETS = 40;

/** An exclusive event, and traders who have complete sets of each of its markets. */
async function makeWorld(marketCount: number, traderCount: number) {
  const event: string = await operate("create_event", {
    ...{ title: "Who wins?", category: "tests", exclusive: true },
  });
  const markets: string[] = [];
  while (markets.length < marketCount) markets.push(await makeMarket({ event_id: event }));
  const traders = await makeTraders(traderCount, { cents: CASH });
  for (const market of markets) {
    for (const trader of traders) await exchange.split(market, trader, SETS);
  }
  return { event, markets, traders };
}

test("conversions, redeems, sets and orders of one event at once: no deadlock, no cent lost", async (t) => {
  const contention = contend(exchange);
  const { insist } = contention;
  const { event, markets, traders } = await makeWorld(4, 6);
  const { anyOf, between, shuffled } = randomFrom("conversions at once");
  const codes = new Map<string, number>();
  const note = (kind: string, code: string | null) => {
    const name = `${kind} ${code ?? "done"}`;
    codes.set(name, (codes.get(name) ?? 0) + 1);
  };
  const step = async () => {
    const [trader, market] = [anyOf(traders), anyOf(markets)];
    const kind = anyOf(["convert", "convert", "redeem", "split", "merge", "order", "order"]);
    if (kind === "convert") {
      const named = shuffled(markets).slice(0, between(1, markets.length));
      const quantity = between(1, 4);
      note(kind, (await insist(() => exchange.convert(event, trader, named, quantity))).code);
    } else if (kind === "redeem") {
      note(kind, (await insist(() => exchange.redeem(event, trader, between(1, 4)))).code);
    } else if (kind === "split" || kind === "merge") {
      note(kind, (await insist(() => exchange[kind](market, trader, between(1, 4)))).code);
    } else {
      const request = buy(anyOf(["yes", "no"]), between(1, 5), between(40, 60));
      note(kind, (await contention.place(market, trader, request)).code);
    }
  };
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      for (let i = 0; i < effort(12); i++) await step();
    }),
  );
  for (const kind of ["convert", "redeem", "order"]) t.true((codes.get(`${kind} done`) ?? 0) > 0);
  t.is(contention.takenBack.get("40P01"), undefined);
  t.deepEqual(await verify(), []);

  // All cash but the fees comes back, for each outcome that wins.
  const [winner, ...losers] = shuffled(markets) as [string, ...string[]];
  await operate("resolve_market", { market_id: winner, outcome: "yes" });
  for (const market of losers)
    await operate("resolve_market", { market_id: market, outcome: "no" });
  let left = 0;
  for (const trader of traders) left += await balance(trader);
  let fees = 0;
  for (const market of markets) fees += (await exchange.accounts(market)).revenue;
  t.is(left + fees, traders.length * CASH);
  t.deepEqual(await verify(), []);
  t.log(JSON.stringify(Object.fromEntries(codes)));
});

test("a conversion while a market is resolved: before it, or refused", async (t) => {
  const contention = contend(exchange);
  const met = new Set<string | null>();
  for (let round = 0; round < effort(12); round++) {
    const { event, markets, traders } = await makeWorld(3, 1);
    const [trader] = traders as [string];
    const [one, two, three] = markets as [string, string, string];
    const [converted] = await contention.together([
      () => contention.insist(() => exchange.convert(event, trader, [one, two], 5)),
      () =>
        contention.insist(() => operate("resolve_market", { market_id: three, outcome: "yes" })),
    ] as const);
    met.add(converted.code);
    t.true([null, "MARKET_NOT_OPEN"].includes(converted.code));
    // 40 YES of the winner, and 5 more with 500 cents for the 5 NO of the two others.
    const expected = CASH - 3 * 100 * SETS + 100 * SETS + (converted.code === null ? 1000 : 0);
    t.is(await balance(trader), expected);
    t.is((await position(one, trader, "no")).quantity, converted.code === null ? 35 : 40);
    for (const market of [one, two]) {
      await operate("resolve_market", { market_id: market, outcome: "no" });
    }
    t.is(await balance(trader), CASH);
  }
  t.deepEqual(await verify(), []);
  t.log(`met ${[...met].join(", ")}`);
});
