import { randomUUID } from "node:crypto";
import test from "ava";
import fc from "fast-check";
import { contend, failure, neverDeadlocked, pairsOf } from "../helpers/exchange/contention.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { buy, sell } from "../helpers/exchange/orders.ts";
import { effort, randomFrom, seed } from "../helpers/random.ts";

/** Resolving, correcting and converting while the same traders do other things. */

const exchange = testExchange(test, { sessions: 20 });
const {
  accounts,
  balance,
  makeMarket,
  makeMarketWith,
  makeMarkets,
  makeTrader,
  makeTraders,
  operate,
} = exchange;
const { position, rest, split } = exchange;

const pair = pairsOf(test, exchange, 15);

const resolve = (market_id: string, outcome: string, yes_payout_cents: number | null = null) =>
  operate("resolve_market", { market_id, outcome, yes_payout_cents });

pair(
  "an order and the resolution of its market: traded and paid, or refused",
  ["traded", "refused"],
  async (contention, t) => {
    const [market, ann, bob] = await makeMarketWith(2);
    await rest(market, ann, buy("no", 10, 40));
    const [placed] = await contention.together([
      () => contention.place(market, bob, buy("yes", 10, 60)),
      () => resolve(market, "yes"),
    ] as const);
    t.true([null, "MARKET_NOT_OPEN"].includes(placed.code));
    t.is(await balance(ann), placed.code === null ? 99_600 : 100_000);
    t.is(await balance(bob), placed.code === null ? 100_383 : 100_000);
    t.is((await accounts(market)).escrow, 0);
    return placed.code === null ? "traded" : "refused";
  },
);

/** Two markets of a new exclusive event, with shares in both. */
const makeOutcomes = async (): Promise<[string, string]> => {
  const event_id = await operate("create_event", {
    ...{ title: "Who wins?", category: "tests", exclusive: true },
  });
  const one = await makeMarket({ event_id });
  const two = await makeMarket({ event_id });
  const ann = await makeTrader();
  for (const market of [one, two]) await split(market, ann, 5);
  return [one, two];
};

pair(
  "INVALID_STATE: two markets of an exclusive event are resolved YES: only one of them is",
  ["one", "two"],
  async (contention, t) => {
    const [one, two] = await makeOutcomes();
    const results = await contention.together([
      () => failure(resolve(one, "yes")),
      () => failure(resolve(two, "yes")),
    ] as const);
    t.deepEqual([...results].sort(), ["EX019", null]);
    const isOne = results[0] === null;
    await resolve(isOne ? two : one, "no");
    return isOne ? "one" : "two";
  },
);

pair(
  "INVALID_STATE: the last market of an exclusive event is resolved NO while the other is undone",
  ["undone first", "refused"],
  async (contention, t) => {
    const [one, two] = await makeOutcomes();
    await resolve(two, "no");
    const [resolved] = await contention.together([
      () => failure(resolve(one, "no")),
      () => operate("void_market", { market_id: two, reason: "a test" }),
    ] as const);
    t.true([null, "EX019"].includes(resolved));
    return resolved === null ? "undone first" : "refused";
  },
);

test("two markets of one category with the same traders are resolved at once, one of them closed", async (t) => {
  const contention = contend(exchange);
  for (let round = 0; round < effort(15); round++) {
    const [one, two, three] = await makeMarkets(3);
    const traders = await makeTraders(4);
    for (const [market, order] of [
      [one, traders],
      [two, traders.toReversed()],
      [three, traders],
    ] as const) {
      for (const trader of order) await split(market, trader, 5);
    }
    await operate("set_market_status", { market_id: one, status: "closed" });
    await contention.together([
      () => resolve(one, "yes"),
      () => resolve(two, "custom", 30),
      () => operate("set_market_status", { market_id: three, status: "closed" }),
      () => contention.place(three, traders[2], buy("yes", 1, 20)),
      () => contention.place(three, traders[0], sell("yes", 5, 20)),
    ]);
    for (const market of [one, two]) t.is((await accounts(market)).escrow, 0);
  }
  neverDeadlocked(t, contention);
});

test("deposits, withdrawals and corrections at once add up", async (t) => {
  const contention = contend(exchange);
  for (let round = 0; round < effort(8); round++) {
    const [market, ann, bob] = await makeMarketWith(2);
    await rest(market, ann, buy("no", 10, 50));
    await contention.place(market, bob, buy("yes", 10, 50));
    const move = (name: string, user_id: string) => () =>
      operate(name, { user_id, amount_cents: 70, reference: `round ${round}` });
    await contention.together([
      () => resolve(market, "no"),
      move("deposit", ann),
      move("withdraw", bob),
      () => contention.place(market, bob, sell("yes", 10, 50)),
    ]);
    await contention.together([
      () => operate("correct_resolution", { market_id: market, outcome: "yes", reason: "wrong" }),
      move("withdraw", ann),
      move("deposit", bob),
    ]);
    t.is(await balance(ann), 100_000 - 500);
    t.is(await balance(bob), 100_000 + 500 - 18);
  }
  neverDeadlocked(t, contention);
});

test("splits and merges among matches of the same shares", async (t) => {
  const contention = contend(exchange);
  const market = await makeMarket();
  const traders = await makeTraders(4);
  for (const trader of traders) await split(market, trader, 30);
  const { shuffled } = randomFrom("splits and merges");
  for (let round = 0; round < effort(25); round++) {
    const [ann, bob, cid, dan] = shuffled(traders) as [...[string, string, string, string]];
    await contention.together([
      () => split(market, ann, 3),
      () => exchange.merge(market, ann, 4),
      () => contention.place(market, bob, sell("yes", 5, 50)),
      () => contention.place(market, ann, buy("yes", 5, 50)),
      () => contention.place(market, cid, sell("no", 5, 50)),
      () => exchange.merge(market, bob, 2),
      () => split(market, dan, 1),
    ]);
  }
  const held = async (side: "yes" | "no") => {
    const all = await Promise.all(traders.map((trader) => position(market, trader, side)));
    return all.reduce((sum, { quantity }) => sum + quantity, 0);
  };
  t.is((await accounts(market)).escrow, 100 * (await held("yes")));
  t.is((await accounts(market)).escrow, 100 * (await held("no")));
  neverDeadlocked(t, contention);
});

test("however a market was traded, any outcome pays out its escrow to the cent", async (t) => {
  const action = fc.record({
    kind: fc.constantFrom("buy", "buy", "buy", "sell", "split", "merge"),
    trader: fc.nat(3),
    side: fc.constantFrom("yes" as const, "no" as const),
    price: fc.integer({ min: 30, max: 70 }),
    quantity: fc.integer({ min: 1, max: 20 }),
  });
  const history = fc.record({
    actions: fc.array(action, { minLength: 10, maxLength: 25, size: "max" }),
    outcomes: fc.uniqueArray(fc.nat(100), { minLength: 1, maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(history, async ({ actions, outcomes }) => {
      const market = await makeMarket();
      const traders = await makeTraders(4, { cents: 5000 });
      for (const { kind, trader, side, price, quantity } of actions) {
        const who = traders[trader]!;
        if (kind === "split" || kind === "merge") await exchange[kind](market, who, quantity);
        else {
          const order = (kind === "buy" ? buy : sell)(side, quantity, price);
          await exchange.placeBatch(market, [[who, order]]);
        }
      }
      const { escrow } = await accounts(market);
      const cash = async () => {
        const balances = await Promise.all(traders.map(balance));
        return balances.reduce((sum, cents) => sum + cents, 0);
      };
      const before = await cash();
      for (const [index, yes_payout_cents] of outcomes.entries()) {
        const values = { market_id: market, outcome: "custom", yes_payout_cents };
        const said =
          index === 0
            ? await operate("resolve_market", values)
            : await operate("correct_resolution", { ...values, reason: "wrong" });
        t.is(said.payoutCents, escrow);
        t.is((await accounts(market)).escrow, 0);
        t.is(await cash(), before + escrow);
      }
      t.deepEqual(await exchange.verify(), []);
    }),
    { seed: seed(), numRuns: effort(12) },
  );
});

pair(
  "winnings are withdrawn while they are paid: all of them, or none yet",
  ["paid first", "withdrawal first"],
  async (contention, t) => {
    const [market, ann] = await makeMarketWith(1, { cents: 1000 });
    await split(market, ann, 10);
    const reference = randomUUID();
    const [, withdrawn] = await contention.together([
      () => resolve(market, "yes"),
      () => failure(operate("withdraw", { user_id: ann, amount_cents: 1000, reference })),
    ] as const);
    t.true([null, "EX011"].includes(withdrawn));
    t.is(await balance(ann), withdrawn === null ? 0 : 1000);
    return withdrawn === null ? "paid first" : "withdrawal first";
  },
);

pair(
  "winnings are withdrawn while a correction takes them back: kept, or owed",
  ["withdrawn first", "corrected first"],
  async (contention, t) => {
    const [market, ann, bob] = await makeMarketWith(2, { cents: 600 });
    await rest(market, ann, buy("no", 9, 40));
    await exchange.place(market, bob, buy("yes", 9, 60));
    await resolve(market, "yes");
    const before = await balance(bob);
    const reference = randomUUID();
    const [corrected, withdrawn] = await contention.together([
      () => operate("correct_resolution", { market_id: market, outcome: "no", reason: "wrong" }),
      () => failure(operate("withdraw", { user_id: bob, amount_cents: before, reference })),
    ] as const);
    t.true([null, "EX011"].includes(withdrawn));
    t.is(await balance(bob), withdrawn === null ? -900 : before - 900);
    t.is(corrected.movedCents, 900);
    t.is(corrected.usersBelowZero, withdrawn === null ? 1 : 0);
    return withdrawn === null ? "withdrawn first" : "corrected first";
  },
);
