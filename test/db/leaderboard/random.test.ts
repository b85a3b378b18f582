import test from "ava";
import type { ExecutionContext } from "ava";
import fc from "fast-check";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { effort, seed } from "../../helpers/random.ts";
import { boardOf, readFacts, windows } from "./standings.ts";

/** Random trading over days, and the leaderboard brought up to date now and then in pieces. */

const exchange = testExchange(test);
const { clock, makeMarket, makeTrader, merge, operate, placeBatch, split } = exchange;
const HOUR_MS = 3_600_000;
let voidedTrades = 0;
const categories = ["all", "tests", "weather"];

test.serial("each refresh gives the same as a computation from all facts", async (t) => {
  t.timeout(120_000);
  await operate("create_category", { slug: "weather", name: "Weather" });
  await clock.freeze("2029-12-20T22:00:00Z");
  const traders: string[] = [];
  while (traders.length < 7) traders.push(await makeTrader({ cents: 10_000_000 }));
  const length = effort(300);
  const histories = fc.array(steps, { minLength: length, maxLength: length });
  const history = fc
    .sample(histories, { seed: seed(), numRuns: 1 })
    .flat()
    .flatMap((step, index) => (index % 25 === 24 ? [step, refresh(7)] : [step]));
  const markets = new Map<number, Market>();
  let compared = 0;
  for (const step of [...history, ...voidedTrade, refresh(1000)]) {
    if (step.kind === "refresh") {
      await refreshInPieces(step.most);
      await compare(t);
      compared += 1;
    } else {
      await carryOut(step, traders, markets);
    }
  }
  t.true(compared > effort(10));
  t.true(voidedTrades > 0);
});

interface Market {
  id: string;
  resolved: string | null;
}

type Step =
  | {
      kind: "order";
      market: number;
      trader: number;
      side: "yes" | "no";
      price: number;
      quantity: number;
      sells: boolean;
    }
  | { kind: "convert"; market: number; trader: number; quantity: number; splits: boolean }
  | { kind: "resolve"; market: number; outcome: "yes" | "no" | "custom" }
  | { kind: "void"; market: number; trade: number | null }
  | { kind: "advance"; hours: number }
  | { kind: "profile"; trader: number; field: "private" | "leaderboard_opt_out"; value: boolean }
  | { kind: "refresh"; most: number };

function refresh(most: number): Step {
  return { kind: "refresh", most };
}

const atSixty = { kind: "order", market: 4, price: 60, quantity: 5, sells: false } as const;
/** Random trades may all be spent before they are voided: this one is not. */
const voidedTrade: Step[] = [
  { ...atSixty, trader: 0, side: "yes" },
  { ...atSixty, trader: 1, side: "no" },
  { kind: "void", market: 4, trade: 0 },
];

const market = fc.nat({ max: 3 });
const trader = fc.nat({ max: 6 });
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({
      kind: fc.constant("order" as const),
      market,
      trader,
      side: fc.constantFrom("yes", "no"),
      price: fc.integer({ min: 30, max: 70 }),
      quantity: fc.integer({ min: 1, max: 50 }),
      sells: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("convert" as const),
      market,
      trader,
      quantity: fc.integer({ min: 1, max: 20 }),
      splits: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("resolve" as const),
      market,
      outcome: fc.constantFrom("yes", "no", "custom"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("void" as const),
      market,
      trade: fc.option(fc.nat({ max: 4 }), { freq: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      hours: fc.constantFrom(1, 5, 26, 24 * 8),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("profile" as const),
      trader,
      field: fc.constantFrom("private", "leaderboard_opt_out"),
      value: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.constantFrom(1, 4, 1000).map(refresh) },
);

/** What is refused, such as selling what one does not have, is part of the game. */
async function carryOut(
  step: Exclude<Step, { kind: "refresh" }>,
  traders: string[],
  markets: Map<number, Market>,
) {
  if (step.kind === "advance") {
    await clock.advance(step.hours * HOUR_MS);
    return;
  }
  if (step.kind === "profile") {
    await operate("set_profile", { user_id: traders[step.trader], [step.field]: step.value });
    return;
  }
  const it = markets.get(step.market) ?? {
    id: await makeMarket({ category: categories[1 + (step.market % 2)] }),
    resolved: null,
  };
  markets.set(step.market, it);
  if (step.kind === "resolve") {
    await resolve(it, step.outcome);
    // Another one takes its place.
    if (step.outcome === "custom") markets.delete(step.market);
    return;
  }
  if (step.kind === "void") {
    if (step.trade !== null) return voidTrade(it, step.trade);
    await operate("void_market", { market_id: it.id, reason: "a test" });
    markets.delete(step.market);
    return;
  }
  const who = traders[step.trader]!;
  if (step.kind === "convert") {
    await (step.splits ? split : merge)(it.id, who, step.quantity);
    return;
  }
  const { side, price, quantity, sells } = step;
  await placeBatch(it.id, [[who, { side, price, quantity, orderType: sells ? "sell" : "buy" }]]);
}

/** Voids one of the last trades, if there are so many and its shares are still there. */
async function voidTrade(it: Market, ago: number) {
  const { rows } = await exchange.database.pool.query(
    `select t.public_id as trade
     from trading.trades as t
     join catalog.markets as m on m.id = t.market_id
     where m.public_id = $1 order by t.id desc limit 1 offset $2`,
    [it.id, ago],
  );
  if (rows.length === 0) return;
  try {
    await operate("void_trade", { trade_id: rows[0].trade, reason: "a test" });
    voidedTrades += 1;
  } catch (error) {
    if (!["EX011", "EX019"].includes((error as { code: string }).code)) throw error;
  }
}

/** Resolves, or corrects. */
async function resolve(it: Market, outcome: "yes" | "no" | "custom") {
  if (it.resolved === outcome) return;
  await operate(it.resolved === null ? "resolve_market" : "correct_resolution", {
    market_id: it.id,
    outcome,
    yes_payout_cents: outcome === "custom" ? 35 : null,
    ...(it.resolved !== null && { reason: "a mistake" }),
  });
  it.resolved = outcome;
}

async function refreshInPieces(most: number) {
  for (;;) {
    const { rows } = await exchange.database.pool.query("select leaderboard.refresh($1) as done", [
      most,
    ]);
    if (rows[0].done) return;
  }
}

async function compare(t: ExecutionContext) {
  const { rows: differences } = await exchange.database.pool.query(
    "select * from leaderboard.verify()",
  );
  t.deepEqual(differences, []);
  const facts = await readFacts(exchange.database.pool);
  const now: Date = (await exchange.database.pool.query("select core.now() as now")).rows[0].now;
  for (const category of categories) {
    for (const window of windows) {
      const expected = boardOf(facts, category, window, now);
      const { rows } = await exchange.api.query(
        `select api.get_leaderboard(category => $1, "window" => $2, most => 100) as board,
           api.get_leaderboard_summary(category => $1, "window" => $2) as summary,
           array(
             select api.get_own_standing(user_id => u, category => $1, "window" => $2)
             from unnest($3::uuid[]) as u
           ) as selves`,
        [category, window, facts.users.map(({ id }) => id)],
      );
      const { board, summary, selves } = rows[0];
      t.deepEqual(board, { category, window, entries: expected.entries });
      const { biggestSingleWin, snapshotAt, ...rest } = summary;
      const biggestWinCents = biggestSingleWin === null ? null : biggestSingleWin.plCents;
      t.deepEqual({ ...rest, biggestWinCents }, expected.summary);
      t.is(snapshotAt, now.toISOString());
      t.deepEqual(
        selves.map(({ self }: any) => self),
        facts.users.map(({ id }) => expected.selves.get(id) ?? null),
      );
    }
  }
}
