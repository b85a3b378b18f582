import { parseArgs } from "node:util";
import { cleanUpOnSignal } from "../helpers/processes/signals.ts";
import { makeBench } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { openBenchCluster } from "./cluster.ts";
import { measureChangeStreams } from "./change_streams.ts";
import { timeCookbook } from "./cookbook.ts";
import { measureDeepBook } from "./deep_book.ts";
import { measureFanOut } from "./fan_out.ts";
import { measureFirstOrders } from "./first_orders.ts";
import { measureHotMarket } from "./hot_market.ts";
import {
  measureHotMarketOverHttp,
  measureLoneOrdersOverHttp,
  measureManyMarketsOverHttp,
} from "./http_orders.ts";
import { measureCpuOfPostgres } from "./http_cpu.ts";
import { measureLimits } from "./limits.ts";
import { measureLeaderboard } from "./leaderboard.ts";
import { measureLongQueues } from "./long_queues.ts";
import { measureLoneFills, measureRestingOrders } from "./lone_orders.ts";
import { measureManyMarkets } from "./many_markets.ts";
import { measureOldRows } from "./old_rows.ts";
import { measureOwnOrders } from "./own_orders.ts";
import { findPgbench } from "./pgbench.ts";
import { profileEngine } from "./profile.ts";
import { measureReleaseLateness } from "./release_lateness.ts";
import { describeConditions, resultTable, verdictOf } from "./report.ts";
import type { Result } from "./report.ts";
import { fullSizes, shortSizes } from "./sizes.ts";
import { measureStandbyReads } from "./standby_reads.ts";
import { measureStockPostgres } from "./stock_postgres.ts";
import { measureSwitchLateness } from "./switch_lateness.ts";
import { measureWebsite } from "./website.ts";
import { measureTradingBesideRefresh } from "./trading_beside_refresh.ts";
import { measureWal } from "./write_ahead_log.ts";

/**
 * `npm run bench [-- --short] [-- --only <name>]`: measures the engine against its targets on a
 * PostgreSQL of its own; --only may be given several times. Each target is a ratio of two figures
 * that were taken by turns in this run. Ends with 1 when a target was missed, and reports nothing at
 * all if a ledger is not sound.
 */

const targets: Record<string, (bench: Bench) => Promise<Result[]>> = {
  hot_market: measureHotMarket,
  many_markets: measureManyMarkets,
  resting_orders: measureRestingOrders,
  lone_fills: measureLoneFills,
  http_many_markets: measureManyMarketsOverHttp,
  http_hot_market: measureHotMarketOverHttp,
  http_lone_orders: measureLoneOrdersOverHttp,
  http_cpu: measureCpuOfPostgres,
  wal: measureWal,
  limits: measureLimits,
  deep_book: measureDeepBook,
  long_queues: measureLongQueues,
  own_orders: measureOwnOrders,
  leaderboard: measureLeaderboard,
  trading_beside_refresh: measureTradingBesideRefresh,
  fan_out: measureFanOut,
  change_streams: measureChangeStreams,
  standby_reads: measureStandbyReads,
  release_lateness: measureReleaseLateness,
  switch_lateness: measureSwitchLateness,
  website: measureWebsite,
  stock_postgres: measureStockPostgres,
  first_orders: measureFirstOrders,
  // Last, since writing the rows takes most of a run.
  old_rows: measureOldRows,
};

/** What is to be looked at and has no target to reach; part of a full run only if asked for. */
const tables: Record<string, (bench: Bench) => Promise<string>> = {
  profile: profileEngine,
  cookbook: timeCookbook,
};

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
  },
});
process.exitCode = await main(values);

async function main({ short, only }: { short: boolean; only: string[] }): Promise<number> {
  const names = [...Object.keys(targets), ...Object.keys(tables)];
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    console.error(`There is no target ${unknown}, but ${names.join(", ")}`);
    return 1;
  }
  const pgbench = findPgbench();
  if (pgbench === undefined) {
    const missing = "pgbench is not to be found, neither in the PATH nor in /usr/lib/postgresql";
    console.error(short ? `note: skipped: ${missing}` : `${missing}: apt install postgresql`);
    return short ? 0 : 1;
  }

  const sizes = short ? shortSizes : fullSizes;
  const isWanted = (name: string) => only.length === 0 || only.includes(name);
  const cluster = await openBenchCluster(sizes);
  cleanUpOnSignal(cluster.destroy);
  try {
    const bench = makeBench(sizes, cluster, pgbench);
    const conditions = await conditionsOf(bench);
    const results: Result[] = [];
    for (const [name, measure] of Object.entries(targets)) {
      if (!isWanted(name)) continue;
      const measured = await measure(bench);
      results.push(...measured);
      if (!short) console.error(resultTable(measured, true));
    }
    const printed: string[] = [];
    for (const [name, make] of Object.entries(tables)) {
      if (only.includes(name) || (short && only.length === 0)) printed.push(await make(bench));
    }

    console.log(conditions);
    if (results.length > 0) console.log(`\n${resultTable(results, !short)}`);
    for (const table of printed) console.log(`\n${table}`);
    return !short && results.some((result) => verdictOf(result) === "missed") ? 1 : 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  } finally {
    await cluster.destroy();
  }
}

async function conditionsOf({ tpcbDatabase, pgbench, sizes }: Bench): Promise<string> {
  const { pool } = await tpcbDatabase();
  const conditions = await describeConditions(pool, pgbench.version);
  return `${conditions}\nsizes: ${JSON.stringify(sizes)}`;
}
