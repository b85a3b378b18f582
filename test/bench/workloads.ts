import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { batchScript } from "./batches.ts";
import { readNumber, writeScript } from "./bench.ts";
import type { Bench, Script } from "./bench.ts";
import type { BenchDatabase } from "./cluster.ts";
import { BATCH_ORDERS, prepareBatches } from "./hot_market.ts";
import { CALL_ORDERS, prepareMarkets } from "./many_markets.ts";
import { fiveShares, restLiquidity, restingScript, takingScript } from "./orders.ts";

/** A kind of call to look into. */
export interface Workload {
  name: string;
  orders: number;
  script: Script;
  calls: number;
}

/** Makes a database ready for the calls of each kind. */
export const prepare = {
  "resting order": async (bench: Bench, database: BenchDatabase): Promise<Workload> => {
    const { markets, traders, profiledCalls } = bench.sizes;
    const lines = restingScript([1, markets], [1, traders]);
    const script = await writeScript(bench, database, "rest", lines);
    return { name: "A lone order that rests", orders: 1, script, calls: profiledCalls };
  },
  fill: async (bench: Bench, database: BenchDatabase): Promise<Workload> => {
    const { markets, traders, profiledCalls } = bench.sizes;
    await restLiquidity(database.pool, markets);
    const lines = takingScript([1, markets], [markets + 1, traders]);
    const script = await writeScript(bench, database, "take", lines);
    return {
      name: "A lone order that is filled by one match",
      orders: 1,
      script,
      calls: profiledCalls,
    };
  },
  batch: async (bench: Bench, database: BenchDatabase): Promise<Workload> => {
    await prepareBatches(bench, database, fiveShares);
    return await ofBatches(bench, database, `A batch of ${BATCH_ORDERS}`, BATCH_ORDERS, 20);
  },
  "many markets": async (bench: Bench, database: BenchDatabase): Promise<Workload> => {
    await prepareMarkets(bench, database);
    return await ofBatches(
      bench,
      database,
      `${CALL_ORDERS} orders of as many markets`,
      CALL_ORDERS,
      10,
    );
  },
};

/** The ready batches of a database, with a part of the calls. */
async function ofBatches(
  bench: Bench,
  database: BenchDatabase,
  name: string,
  orders: number,
  part: number,
): Promise<Workload> {
  const { batches, profiledCalls } = bench.sizes;
  const script = await writeScript(bench, database, "batch", batchScript(batches));
  const calls = Math.ceil(profiledCalls / part);
  return { name: `${name}, half resting, half crossing`, orders, script, calls };
}

/** Makes the calls of a workload from one client; returns how long one takes. */
export async function call(pool: Pool, { script, calls }: Workload): Promise<number> {
  const { latencyMs } = await script({
    clients: 1,
    until: { transactions: calls },
    options: "-c track_functions=all",
  });
  // A session hands in what it counted when it ends, which pgbench does not wait for.
  const sessions = "select count(*) from pg_stat_activity where application_name = 'pgbench'";
  while ((await readNumber(pool, sessions)) > 0) await delay(10);
  return latencyMs;
}
