import { randomUUID } from "node:crypto";
import { buy, ioc, postOnly, sell, spend } from "../helpers/exchange/orders.ts";
import type { Request, Side } from "../helpers/exchange/orders.ts";
import type { Exchange } from "../helpers/exchange/test_exchange.ts";
import { randomFrom } from "../helpers/random.ts";

/** What a later history needs to continue this one. */
export interface World {
  /** They can trade, and have money. */
  traders: string[];
  /** In status open, not live. */
  openMarkets: string[];
  liveMarket: string;
  /** Deposits less withdrawals of all users. */
  cashCents: number;
}

interface Bank extends Pick<World, "cashCents"> {
  makeTrader: (cents: number, limits: Limits, reviewed?: boolean) => Promise<string>;
  withdraw: (trader: string, cents: number) => Promise<void>;
}

type Limits = [day: number | null, week: number | null, month: number | null];

const DAY_MS = 86_400_000;
const ROUNDS = 14;
const ROUND_MS = 3 * DAY_MS;

/**
 * Six weeks of a small exchange that end now: markets of every status, orders that came to every
 * end, users of every kind, a resolution that was corrected. The clock of the database has to be
 * the one of the tests.
 */
export async function playHistory(exchange: Exchange): Promise<World> {
  const { clock, operate, work } = exchange;
  await clock.advance(-ROUNDS * ROUND_MS);
  const bank = makeBank(exchange);
  const markets = await makeMarkets(exchange);
  const maker = await bank.makeTrader(2_000_000, [null, null, null]);
  const takers: string[] = [];
  for (const limits of [
    [null, null, null],
    [null, null, null],
    [4000, null, null],
    [null, 9000, 20_000],
    [null, null, null],
  ] satisfies Limits[]) {
    takers.push(await bank.makeTrader(150_000, limits));
  }
  await makeOtherUsers(exchange, bank, maker, markets[0]!);

  for (let round = 0; round < ROUNDS; round++) {
    for (const market of markets.slice(0, round < 9 ? 6 : 3)) {
      await tradeInTurn(exchange, market, maker, takers, `${round} ${market}`);
    }
    await operate("refresh_leaderboard");
    if (round === 8) await settle(exchange, markets, bank, takers);
    await clock.advance(ROUND_MS);
    await work("expire_orders");
  }
  await work("close_markets");
  await work("archive_orders");
  await work("verify_ledger");
  await operate("set_market_status", { market_id: markets[6], status: "paused" });
  return {
    traders: [maker, ...takers],
    openMarkets: markets.slice(0, 3),
    liveMarket: markets[8]!,
    cashCents: bank.cashCents,
  };
}

function makeBank({ makeTrader, operate }: Exchange): Bank {
  const bank: Bank = {
    cashCents: 0,
    makeTrader: async (cents, limits, reviewed = true) => {
      bank.cashCents += cents;
      return await makeTrader({ cents, limits, reviewed });
    },
    withdraw: async (user_id, amount_cents) => {
      bank.cashCents -= amount_cents;
      await operate("withdraw", { user_id, amount_cents, reference: `to the bank ${user_id}` });
    },
  };
  return bank;
}

/** 0 to 2 stay open, 3 to 5 are resolved, 6 is paused, 7 is closed at its time, 8 is live. */
async function makeMarkets({ operate }: Exchange): Promise<string[]> {
  await operate("create_category", { slug: "sports", name: "Sports" });
  await operate("set_fee_schedule", { taker_rate_bps: 400, category: "sports" });
  const final = await operate("create_event", {
    ...{ title: "The final", category: "sports", live: true, live_delay_ms: 3000 },
  });
  const night = await operate("create_event", { title: "Election night", category: "tests" });
  const make = (title: string, more: Record<string, unknown> = {}): Promise<string> =>
    operate("create_market", { title, category: "tests", ...more });
  const closeTime = new Date(Date.now() - DAY_MS).toISOString();
  return [
    await make("Rain on election day?", { event_id: night }),
    await make("A majority?", { event_id: night }),
    await make("A goal in the first half?", { category: "sports" }),
    await make("A rate cut?"),
    await make("A tie?", { category: "sports" }),
    await make("A second round?"),
    await make("A strike?"),
    await make("Snow in November?", { close_time: closeTime }),
    await make("Extra time?", { category: "sports", event_id: final }),
  ];
}

/** Users who may no longer trade, or not yet, each after some commands. */
async function makeOtherUsers(
  { operate, place, split }: Exchange,
  bank: Bank,
  ...[maker, market]: [string, string]
): Promise<void> {
  const none: Limits = [null, null, null];
  const [frozen, excluded] = [
    await bank.makeTrader(20_000, none),
    await bank.makeTrader(20_000, none),
  ];
  await bank.makeTrader(5000, none, false);
  await place(market, frozen, buy("yes", 10, 30));
  await place(market, excluded, buy("no", 10, 30));
  await operate("freeze_user", { user_id: frozen, reason: "asked by the bank" });
  await operate("self_exclude", { user_id: excluded });
  await operate("set_profile", { user_id: maker, private: true });
  await split(market, maker, 100);
}

/** The maker quotes anew, and takers come by orders of all kinds. */
async function tradeInTurn(
  { amend, cancel, clock, database, merge, orders, placeBatch, position, split }: Exchange,
  ...[market, maker, takers, name]: [string, string, string[], string]
): Promise<void> {
  const random = randomFrom(`round ${name}`);
  const fair = random.between(30, 70);
  const { rows } = await database.pool.query("select core.now() + interval '12 hours' as later");
  const expiresAt = new Date(rows[0].later).toISOString();
  for (const { id } of (await orders(maker, { market })).data) {
    if (random.chance(0.7)) await cancel(maker, id);
  }
  for (const away of [1, 3]) {
    await placeBatch(market, [
      [maker, buy("yes", random.between(10, 40), fair - away)],
      [maker, buy("no", random.between(10, 40), 100 - fair - away)],
    ]);
  }
  for (const taker of random.shuffled(takers).slice(0, 3)) {
    await clock.advance(random.between(1, 7200) * 1000);
    const side: Side = random.chance(0.5) ? "yes" : "no";
    const price = side === "yes" ? fair : 100 - fair;
    const held = (await position(market, taker, side)).quantity;
    const idempotencyKey = random.chance(0.5) ? randomUUID() : null;
    const request = random.anyOf<Request>([
      buy(side, random.between(5, 30), undefined, ioc),
      buy(side, random.between(5, 30), price + 2),
      buy(side, random.between(50, 90), price + 1),
      buy(side, random.between(5, 30), price - 5, postOnly),
      buy(side, random.between(5, 30), price - 4, { expiresAt }),
      spend(side, random.between(300, 900)),
      ...(held > 0 ? [sell(side, held, undefined, ioc), sell(side, held, price + 6)] : []),
    ]);
    await placeBatch(market, [[taker, { ...request, idempotencyKey }]]);
    if (random.chance(0.2)) await split(market, taker, 5);
    if (random.chance(0.2)) await merge(market, taker, 3);
    const [resting] = (await orders(taker, { market })).data;
    if (resting && random.chance(0.4)) await amend(taker, resting.id, { quantity: 20 });
  }
}

/** Three markets end: by yes, by a payout between, and by an outcome that was wrong at first. */
async function settle(
  { operate }: Exchange,
  markets: string[],
  bank: Bank,
  takers: string[],
): Promise<void> {
  const [byYes, between, corrected] = markets.slice(3, 6);
  await operate("resolve_market", { market_id: byYes, outcome: "yes" });
  await operate("resolve_market", {
    ...{ market_id: between, outcome: "custom", yes_payout_cents: 35 },
  });
  await operate("resolve_market", { market_id: corrected, outcome: "no" });
  await bank.withdraw(takers[0]!, 2500);
  await operate("correct_resolution", {
    ...{ market_id: corrected, outcome: "yes", reason: "read from the wrong line" },
  });
}
