import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { call } from "../../src/database/call.ts";
import { jobs } from "../../src/database/job_calls.ts";
import { CLIENTS, writeScript } from "./bench.ts";
import type { Bench, Script } from "./bench.ts";
import {
  checkLeaderboard,
  NEW_POSITIONS,
  refresh,
  settleMarkets,
  settleOldMarkets,
} from "./leaderboard.ts";
import { restingScript, restLiquidity, takingScript } from "./orders.ts";
import { takeLog } from "./pgbench.ts";
import type { LoggedTransaction } from "./pgbench.ts";
import type { Result } from "./report.ts";
import { measureInRounds, quantile } from "./rounds.ts";

/** Before and after each refresh, so that as many orders are placed without one. */
const PAUSE_MS = 50;

/** What happened from when to when, in milliseconds since the epoch. */
type Span = LoggedTransaction;

/**
 * How long a trader waits for an order, resting or filled, while the leaderboard is brought up to
 * date, against the times between: the 99th of 100.
 */
export async function measureTradingBesideRefresh(bench: Bench): Promise<Result[]> {
  const { sizes, cluster } = bench;
  const database = await cluster.createDatabase("beside_refresh");
  const { pool } = database;
  const { markets, traders } = sizes;
  await restLiquidity(pool, markets);
  await settleOldMarkets(pool, sizes);
  await refresh(pool);
  await pool.query("vacuum (analyze)");
  const script = await writeScript(bench, database, "orders", [
    "\\set rests random(0, 1)",
    "\\if :rests",
    ...restingScript([1, markets], [markets + 1, traders]),
    "\\else",
    ...takingScript([1, markets], [markets + 1, traders]),
    "\\endif",
  ]);

  const log = join(cluster.directory, "orders");
  // Both figures of a round come from the same time, during which refreshes come and go.
  let p99 = { without: Number.NaN, beside: Number.NaN };
  const figures = await measureInRounds(sizes, sizes.seconds, {
    name: "orders beside refreshes",
    reference: async (seconds) => {
      p99 = await measureRound(pool, script, { seconds, log });
      return p99.without;
    },
    ours: () => Promise.resolve(p99.beside),
  });
  await refresh(pool);
  await checkLeaderboard(pool);
  await database.drop();
  const target = `an order while the leaderboard is refreshed / while it is not, ${CLIENTS} clients, p99`;
  return [{ target, unit: "ms", must: 1.5, aim: 1.2, ...figures }];
}

async function measureRound(
  pool: Pool,
  script: Script,
  { seconds, log }: { seconds: number; log: string },
): Promise<{ without: number; beside: number }> {
  const [refreshes, settlings]: [Span[], Span[]] = [[], []];
  const run = { isOver: false };
  const worker = await pool.connect();
  const refreshAsWorkersDo = async () => {
    while ((await call(worker, jobs.refreshLeaderboard, { pause: "10 ms" })) > 0);
  };
  async function refreshAgainAndAgain(): Promise<void> {
    while (!run.isOver) {
      settlings.push(await spanOf(() => settleMarkets(pool, 1, NEW_POSITIONS, 1)));
      await delay(PAUSE_MS);
      refreshes.push(await spanOf(refreshAsWorkersDo));
      await delay(PAUSE_MS);
    }
  }
  const refreshing = refreshAgainAndAgain();
  await script({ clients: CLIENTS, until: { seconds }, log });
  run.isOver = true;
  await refreshing;
  worker.release();

  const [beside, without]: [number[], number[]] = [[], []];
  for (const order of takeLog(log)) {
    const met = (spans: Span[]) =>
      spans.some(({ begin, end }) => begin < order.end && order.begin < end);
    if (met(refreshes)) beside.push(order.end - order.begin);
    else if (!met(settlings)) without.push(order.end - order.begin);
  }
  return { without: quantile(without, 0.99), beside: quantile(beside, 0.99) };
}

async function spanOf(work: () => Promise<void>): Promise<Span> {
  const now = () => performance.timeOrigin + performance.now();
  const begin = now();
  await work();
  return { begin, end: now() };
}
