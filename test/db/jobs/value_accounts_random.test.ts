import test from "ava";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { createExchange } from "../../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../../helpers/exchange/test_exchange.ts";
import { effort, randomFrom } from "../../helpers/random.ts";
import { daysOfAnalysts, DAY_MS, nameOf, valueOf, valueSome } from "./account_days.ts";
import type { AccountDay } from "./account_days.ts";

/**
 * Random trading over days, with the job now and then and in pieces. Each day of an account must be
 * what cash, positions and books showed in its last millisecond, and what analysts see.
 */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const STEPS = 250;

const seen = { held: 0, pieces: 0, voidedTrades: 0, voidedMarkets: 0, resolved: 0, corrected: 0 };

test("each day is what was read in its last millisecond, whatever came later", async (t) => {
  t.timeout(240_000);
  for (let number = 0; number < effort(2) || Object.values(seen).includes(0); number++) {
    const exchange = await createExchange();
    try {
      const world = await makeWorld(exchange, number);
      await playDays(world);
      await world.exchange.work("value_accounts", { most: world.random.between(1, 10) });
      const range = [nameOf(world.startsAt), nameOf(world.now)] as const;
      const analysts = await daysOfAnalysts(exchange, ...range);
      for (const trader of world.deposits.keys()) {
        const found = await valueOf(exchange, trader, ...range);
        t.deepEqual(found, world.noted.get(trader));
        t.deepEqual(found, analysts.get(trader));
        t.deepEqual(await marksOf(exchange, trader, ...range), world.marked.get(trader));
      }
      t.deepEqual(await exchange.verify(), []);
    } finally {
      await exchange.database.drop();
    }
  }
});

interface World {
  exchange: Exchange;
  random: ReturnType<typeof randomFrom>;
  startsAt: number;
  now: number;
  /** By trader: what was paid in less what was paid out. */
  deposits: Map<string, number>;
  markets: string[];
  /** By market that is over: its outcome; null if it was voided. */
  over: Map<string, "yes" | "no" | null>;
  orders: [trader: string, order: string][];
  trades: string[];
  /** By trader: what was read at the end of each day. */
  noted: Map<string, AccountDay[]>;
  /** By trader: what the shares were worth then at the last prices. */
  marked: Map<string, number[]>;
}

async function makeWorld(exchange: Exchange, number: number): Promise<World> {
  const startsAt = Date.parse("2030-03-09T20:00Z");
  await exchange.clock.freeze(new Date(startsAt));
  const world: World = {
    ...{ exchange, startsAt, now: startsAt, random: randomFrom(`days ${number}`) },
    ...{ deposits: new Map(), markets: [], over: new Map(), orders: [], trades: [] },
    ...{ noted: new Map(), marked: new Map() },
  };
  while (world.deposits.size < 4) await addTrader(world);
  world.markets.push((await exchange.makeLiveMarket()).market, ...(await exchange.makeMarkets(2)));
  return world;
}

async function addTrader({ exchange, deposits }: World) {
  const cents = 1_000_000;
  deposits.set(await exchange.makeTrader({ cents }), cents);
}

async function playDays(world: World) {
  const { random, exchange } = world;
  for (let step = 0; step < STEPS; step++) {
    const act = weighted[random.between(0, weighted.length - 1)]!;
    await act(world);
    if (step === STEPS / 2) await addTrader(world);
  }
  await advance(world, 2 * DAY_MS + 11 * MINUTE_MS);
  await exchange.work("expire_orders");
}

async function advance(world: World, ms: number) {
  const { clock } = world.exchange;
  const goal = world.now + ms;
  for (;;) {
    const midnight = Math.floor(world.now / DAY_MS) * DAY_MS + DAY_MS;
    if (midnight > goal) break;
    await clock.freeze(new Date((world.now = midnight - 1)));
    await note(world);
    world.now = midnight;
  }
  await clock.freeze(new Date((world.now = goal)));
}

async function marksOf({ database }: Exchange, trader: string, since: string, until: string) {
  const { rows } = await database.pool.query(
    `select e.mark_value_cents as cents
     from analytics.daily_equity($1, $2) as e
     join analytics.users as u using (user_key)
     where u.user_id = $3 order by e.day`,
    [since, until, trader],
  );
  return rows.map(({ cents }) => cents);
}

/** Cash and shares as a trader sees them, and bids by the public book: nothing stays changed. */
async function note({ exchange, now, deposits, markets, over, noted, marked }: World) {
  await exchange.withRollback(async (client) => {
    const bids = new Map<string, number>();
    const marks = new Map<string, number>();
    for (const market of markets.filter((one) => !over.has(one))) {
      const view = await call(client, api.getOrderBook, { marketId: market });
      const { bids: buyers, asks: sellers } = JSON.parse(view!.body);
      bids.set(`${market} yes`, buyers[0]?.price ?? 0);
      bids.set(`${market} no`, sellers.length > 0 ? 100 - sellers[0].price : 0);
      const { rows } = await client.query(
        "select last_yes_price_cents as price from analytics.markets where market_id = $1",
        [market],
      );
      marks.set(`${market} yes`, rows[0].price ?? 50);
      marks.set(`${market} no`, 100 - (rows[0].price ?? 50));
    }
    for (const [trader, depositsCents] of deposits) {
      const own = JSON.parse(await call(client, api.getOwnPositions, { userId: trader }));
      const worth = (prices: Map<string, number>): number =>
        own.positions.reduce(
          (sum: number, { marketId, side, quantity }: any) =>
            sum + quantity * prices.get(`${marketId} ${side}`)!,
          0,
        );
      const exitCents = worth(bids);
      if (exitCents > 0) seen.held += 1;
      const day = { day: nameOf(now), balanceCents: own.balance, exitCents, depositsCents };
      noted.set(trader, [...(noted.get(trader) ?? []), day]);
      marked.set(trader, [...(marked.get(trader) ?? []), worth(marks)]);
    }
  });
}

async function placeOrder({ exchange, random, now, deposits, markets, orders, trades }: World) {
  const { anyOf, between } = random;
  const trader = anyOf([...deposits.keys()]);
  // Some expire at midnight.
  const inMs = anyOf([null, null, 2 * HOUR_MS, DAY_MS - (now % DAY_MS), 30 * HOUR_MS]);
  const request = {
    side: anyOf(["yes", "no"] as const),
    orderType: anyOf(["buy", "buy", "sell"] as const),
    price: between(30, 70),
    quantity: between(1, 50),
    expiresAt: inMs === null ? null : new Date(now + inMs).toISOString(),
  };
  const [outcome] = await exchange.placeBatch(anyOf(markets), [[trader, request]]);
  if (!outcome?.answer) return;
  orders.push([trader, outcome.answer.order.id]);
  trades.push(...outcome.answer.fills.map(({ id }) => id));
}

async function changeOrder({ exchange, random, orders }: World) {
  const { between, chance } = random;
  const [trader, id] = orders.at(-between(1, 12)) ?? [];
  if (trader === undefined || id === undefined) return;
  if (chance(0.5)) await exchange.cancel(trader, id);
  else if (chance(0.5)) await exchange.amend(trader, id, { quantity: between(1, 30) });
  else await exchange.amend(trader, id, { price: between(30, 70) });
}

async function convert({ exchange, random, deposits, markets }: World) {
  const { anyOf, between } = random;
  const way = anyOf([exchange.split, exchange.merge]);
  await way(anyOf(markets), anyOf([...deposits.keys()]), between(1, 30));
}

let movements = 0;

async function moveCash({ exchange, random, deposits }: World) {
  const trader = random.anyOf([...deposits.keys()]);
  const amount_cents = random.between(1, 1000);
  const isIn = random.chance(0.5);
  const reference = `movement ${++movements}`;
  await exchange.operate(isIn ? "deposit" : "withdraw", {
    ...{ user_id: trader, amount_cents, reference },
  });
  deposits.set(trader, deposits.get(trader)! + (isIn ? amount_cents : -amount_cents));
}

async function resolve({ exchange, random, markets, over }: World) {
  const market_id = random.anyOf(markets);
  const outcome = random.anyOf(["yes", "no"] as const);
  const before = over.get(market_id);
  if (before === null || before === outcome) return;
  if (before === undefined) {
    await exchange.operate("resolve_market", { market_id, outcome });
    markets.push(await exchange.makeMarket());
    seen.resolved += 1;
  } else {
    await exchange.operate("correct_resolution", { market_id, outcome, reason: "a mistake" });
    seen.corrected += 1;
  }
  over.set(market_id, outcome);
}

async function voidMarket({ exchange, random, markets, over }: World) {
  const market_id = random.anyOf(markets);
  if (over.get(market_id) === null) return;
  await exchange.operate("void_market", { market_id, reason: "no answer" });
  if (!over.has(market_id)) markets.push(await exchange.makeMarket());
  over.set(market_id, null);
  seen.voidedMarkets += 1;
}

async function voidTrade({ exchange, random, trades }: World) {
  const trade_id = trades.at(-random.between(1, 5));
  if (trade_id === undefined) return;
  try {
    await exchange.operate("void_trade", { trade_id, reason: "a mistake" });
    seen.voidedTrades += 1;
  } catch (error) {
    // The shares are gone, or the market is resolved.
    if (!["EX011", "EX019"].includes((error as { code: string }).code)) throw error;
  }
}

async function sweep({ exchange, random, markets }: World) {
  if (random.chance(0.5)) await exchange.work("expire_orders");
  await exchange.release(markets[0]!);
}

/** A few pieces of the work: what users do goes on between them. */
async function valueAFew({ exchange, random }: World) {
  for (let calls = random.between(1, 4); calls > 0; calls--) {
    if ((await valueSome(exchange, random.between(1, 3))) === 0) return;
    seen.pieces += 1;
  }
}

const moveOn = (world: World) =>
  advance(world, world.random.anyOf([5 * MINUTE_MS, HOUR_MS, 7 * HOUR_MS, 20 * HOUR_MS]));

const weighted: ((world: World) => Promise<void>)[] = (
  [
    [placeOrder, 100],
    [changeOrder, 28],
    [convert, 16],
    [moveCash, 8],
    [resolve, 3],
    [voidMarket, 1],
    [voidTrade, 6],
    [sweep, 14],
    [valueAFew, 14],
    [moveOn, 12],
  ] as const
).flatMap(([act, weight]) => Array.from({ length: weight }, () => act));
