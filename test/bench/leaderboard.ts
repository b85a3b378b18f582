import type { Pool } from "pg";
import type { Bench } from "./bench.ts";
import { publicIdOf } from "./catalogue.ts";
import type { Result } from "./report.ts";
import { mean, measureInRounds, timed } from "./rounds.ts";
import type { Sizes } from "./sizes.ts";

/** Positions of a market that was resolved long ago, and of one between two refreshes. */
const OLD_POSITIONS = 1000;
export const NEW_POSITIONS = 100;

/** The days over which the old resolutions are spread. */
const DAYS = 400;

/** What one measurement is the mean of. */
const REPETITIONS = 5;

/**
 * Bringing the leaderboard up to date after the resolution of one market, when many positions have
 * been settled before, against one aggregate over all of them.
 */
export async function measureLeaderboard({ sizes, cluster }: Bench): Promise<Result[]> {
  const database = await cluster.createDatabase("leaderboard");
  const { pool } = database;
  await settleOldMarkets(pool, sizes);
  await pool.query("vacuum (analyze)");
  const [first = Number.NaN] = await timesOf(pool, 1, refresh);
  await pool.query("vacuum (analyze)");
  const number = sizes.settledPositions.toLocaleString("en");
  console.error(`  leaderboard: the first refresh, ${number} positions: ${Math.round(first)} ms`);

  const figures = await measureInRounds(sizes, sizes.latencySeconds, {
    name: "leaderboard",
    reference: async () => mean(await timesOf(pool, REPETITIONS, aggregate)),
    ours: async () => {
      const times: number[] = [];
      while (times.length < REPETITIONS) {
        await settleMarkets(pool, 1, NEW_POSITIONS, 1);
        times.push(...(await timesOf(pool, 1, refresh)));
      }
      return mean(times);
    },
  });
  await checkLeaderboard(pool);
  await database.drop();
  const target = `refresh after ${NEW_POSITIONS} settled of ${number} / one group by`;
  return [{ target, unit: "ms", must: 2, aim: 0.1, ...figures }];
}

/** Throws if the leaderboard is not what the settlements make it. */
export async function checkLeaderboard(pool: Pool): Promise<void> {
  const { rows } = await pool.query("select * from leaderboard.verify() limit 5");
  if (rows.length > 0) throw new Error(`leaderboard.verify() found ${JSON.stringify(rows)}`);
}

/** Brings the leaderboard up to date in pieces, as the worker does. */
export async function refresh(pool: Pool): Promise<void> {
  for (;;) {
    const { rows } = await pool.query("select jobs.refresh_leaderboard() as more");
    if (rows[0].more === 0) return;
  }
}

async function aggregate(pool: Pool): Promise<void> {
  await pool.query(
    `select
       s.user_id, sum(s.realised_cents), sum(s.cost_cents),
       count(*) filter (where s.realised_cents > 0), count(*)
     from trading.settlements as s
     group by s.user_id`,
  );
}

async function timesOf(
  pool: Pool,
  count: number,
  work: (pool: Pool) => Promise<void>,
): Promise<number[]> {
  const times: number[] = [];
  while (times.length < count) {
    times.push(await timed(() => work(pool)));
  }
  return times;
}

/** Writes the markets that were resolved long ago. */
export async function settleOldMarkets(pool: Pool, sizes: Sizes): Promise<void> {
  const positions = Math.min(OLD_POSITIONS, sizes.traders);
  await settleMarkets(pool, sizes.settledPositions / positions, positions, DAYS);
}

/**
 * Writes new markets that were resolved within so many days, with one position of YES for each of
 * as many neighbours. Only what the leaderboard reads of them is there, so their ledger is empty.
 */
export async function settleMarkets(
  pool: Pool,
  count: number,
  positions: number,
  days: number,
): Promise<void> {
  await pool.query(
    `with market as (
       insert into catalog.markets (
         category_id, title, status, resolved_outcome, yes_payout_cents, resolved_at
       )
       select c.id, 'Settled', 'resolved', 'yes', 100,
         core.now() - i % $3::int * interval '1 day'
       from catalog.categories as c
       cross join generate_series(1, $1::int) as i
       returning id, resolved_at
     ),
     state as (
       insert into trading.market_state (market_id) select m.id from market as m
     ),
     resolution as (
       insert into trading.resolutions (
         market_id, outcome, yes_payout_cents, position_count, payout_cents, created_at
       )
       select m.id, 'yes', 100, $2, 1000 * $2, m.resolved_at
       from market as m
       returning id, market_id
     ),
     traders as (
       select count(*)::int as count from identity.users
     )
     insert into trading.settlements (
       resolution_id, market_id, user_id, side,
       quantity, payout_cents, cost_cents, fee_cents, realised_cents
     )
     select
       r.id, r.market_id, u.id, 'yes',
       10, 1000, 500 + p, 0, 500 - p
     from resolution as r
     cross join traders as t
     cross join generate_series(1, $2::int) as p
     join identity.users as u
       on u.public_id = ${publicIdOf("1 + (r.market_id * 37 + p) % t.count")}`,
    [count, positions, days],
  );
}
