import test from "ava";
import { contend, failure, neverDeadlocked, pairsOf } from "../helpers/exchange/contention.ts";
import { buy, sell } from "../helpers/exchange/orders.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { effort } from "../helpers/random.ts";

/** Voids of trades and markets at the same moment as each other, as orders and as resolutions. */

const exchange = testExchange(test, { sessions: 20 });
const {
  accounts,
  balance,
  makeMarket,
  makeMarketWith,
  makeMarkets,
  makeTraders,
  operate,
  place,
  position,
} = exchange;
const { rest } = exchange;

const pair = pairsOf(test, exchange, 12);

const voidTrade = (trade_id: string) =>
  failure(operate("void_trade", { trade_id, reason: "a test" }));
const voidMarket = (market_id: string) =>
  failure(operate("void_market", { market_id, reason: "a test" }));
const resolve = (market_id: string) =>
  failure(operate("resolve_market", { market_id, outcome: "yes" }));

/** Ann has bought 10 YES at 50 of Bob, with a fee of 17.5. */
async function makeTrade() {
  const [id, ann, bob, cem] = await makeMarketWith(3, { cents: 10_000 });
  await rest(id, bob, buy("no", 10, 50));
  const { fills } = await place(id, ann, buy("yes", 10, 50));
  return { id, ann, bob, cem, trade: fills[0]!.id };
}

pair(
  "a trade is voided twice: once is refused, and the cash goes back once",
  ["first", "second"],
  async (contention, t) => {
    const { ann, bob, trade } = await makeTrade();
    const [first, second] = await contention.together([
      () => voidTrade(trade),
      () => voidTrade(trade),
    ] as const);
    t.deepEqual([first, second].sort(), ["EX019", null].sort());
    t.deepEqual([await balance(ann), await balance(bob)], [10_000, 10_000]);
    return first === null ? "first" : "second";
  },
);

pair(
  "a trade is voided while its shares are sold: one of the two is refused",
  ["voided", "sold"],
  async (contention, t) => {
    const { id, ann, bob, cem, trade } = await makeTrade();
    await rest(id, cem, buy("yes", 10, 50));
    const [refused, sale] = await contention.together([
      () => voidTrade(trade),
      () => contention.place(id, ann, sell("yes", 10, 50)),
    ] as const);
    const isVoided = refused === null;
    t.is(refused, isVoided ? null : "EX011");
    t.is(sale.code, isVoided ? "INSUFFICIENT_BALANCE" : null);
    t.is(await balance(ann), isVoided ? 10_000 : 10_000 - 518 + 482);
    t.is(await balance(bob), isVoided ? 10_000 : 9500);
    t.is((await position(id, ann, "yes")).quantity, 0);
    return isVoided ? "voided" : "sold";
  },
);

pair(
  "a trade is voided while its market is resolved: the trade first, or it is refused",
  ["voided", "refused"],
  async (contention, t) => {
    const { id, ann, bob, trade } = await makeTrade();
    const [refused, resolved] = await contention.together([
      () => voidTrade(trade),
      () => resolve(id),
    ] as const);
    t.is(resolved, null);
    t.is(await balance(ann), refused === null ? 10_000 : 10_000 - 518 + 1000);
    t.is(await balance(bob), refused === null ? 10_000 : 9500);
    t.true(refused === null || refused === "EX019");
    return refused === null ? "voided" : "refused";
  },
);

pair(
  "a market is voided while it is resolved: it ends voided",
  ["resolved", "refused"],
  async (contention, t) => {
    const { id, ann, bob } = await makeTrade();
    const [voided, resolved] = await contention.together([
      () => voidMarket(id),
      () => resolve(id),
    ] as const);
    t.is(voided, null);
    t.true(resolved === null || resolved === "EX019");
    t.deepEqual([await balance(ann), await balance(bob)], [10_000, 10_000]);
    t.deepEqual(await accounts(id), { escrow: 0, revenue: 0 });
    return resolved === null ? "resolved" : "refused";
  },
);

pair(
  "a market is voided while an order is matched there: the trade is undone, or does not happen",
  ["traded", "rejected"],
  async (contention, t) => {
    const { id, ann, bob, cem } = await makeTrade();
    await rest(id, bob, buy("no", 10, 40));
    const [voided, placed] = await contention.together([
      () => voidMarket(id),
      () => contention.place(id, cem, buy("yes", 10, 60)),
    ] as const);
    t.is(voided, null);
    for (const user of [ann, bob, cem]) t.is(await balance(user), 10_000);
    t.true(placed.code === null || placed.code === "MARKET_NOT_OPEN");
    return placed.code === null ? "traded" : "rejected";
  },
);

pair(
  "what a void will take back is withdrawn: it is owed, or the withdrawal is refused",
  ["owed", "refused"],
  async (contention, t) => {
    const { id, ann } = await makeTrade();
    await resolve(id);
    const withdrawal = { user_id: ann, amount_cents: 10_482, reference: "all" };
    const [voided, withdrawn] = await contention.together([
      () => voidMarket(id),
      () => failure(operate("withdraw", withdrawal)),
    ] as const);
    t.is(voided, null);
    t.is(withdrawn, withdrawn === null ? null : "EX011");
    t.is(await balance(ann), withdrawn === null ? -482 : 10_000);
    return withdrawn === null ? "owed" : "refused";
  },
);

test("voids, deposits, fee payouts and orders of the same users at once: no deadlock", async (t) => {
  const contention = contend(exchange);
  const traders = await makeTraders(6);
  const rounds = effort(10);
  const elsewhere = await makeMarket();
  for (let round = 0; round < rounds; round++) {
    const markets = await makeMarkets(3);
    const fills: string[] = [];
    for (const [index, market] of markets.entries()) {
      const [maker, taker] = [traders[index]!, traders[index + 1]!];
      await rest(market, maker, buy("no", 20, 50));
      fills.push((await place(market, taker, buy("yes", 20, 50))).fills[0]!.id);
    }
    await contention.together([
      () => voidMarket(markets[0]),
      () => voidMarket(markets[1]),
      () => voidTrade(fills[2]!),
      () => voidTrade(fills[1]!),
      () => failure(operate("pay_out_fees", { amount_cents: 5, reference: `round ${round}` })),
      ...traders.map((user_id, index) => () => {
        const deposit = { user_id, amount_cents: 10, reference: `round ${round}` };
        return index % 2 === 0
          ? operate("deposit", deposit)
          : contention.place(elsewhere, user_id, buy(index % 4 === 1 ? "yes" : "no", 3, 50));
      }),
    ]);
  }
  neverDeadlocked(t, contention);
});
