import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { readNumber, writeScript } from "./bench.ts";
import type { Bench, Script } from "./bench.ts";
import type { BenchDatabase } from "./cluster.ts";
import { batchScript } from "./batches.ts";
import { BATCH_ORDERS, prepareBatches } from "./hot_market.ts";
import { CALL_ORDERS, prepareMarkets } from "./many_markets.ts";
import { fiveShares, restLiquidity, restingScript, takingScript } from "./orders.ts";
import { markdownTable } from "./report.ts";

/** A kind of call to look into. */
interface Workload {
  name: string;
  orders: number;
  script: Script;
  calls: number;
}

/**
 * Where the time of a call goes, and what it writes. The stages are the functions that
 * PostgreSQL itself counted (track_functions), so this knows nothing of how the engine is cut up;
 * a function that is inlined, as the market's lock is, counts to its caller.
 */
export async function profileEngine(bench: Bench): Promise<string> {
  const { sizes, cluster } = bench;
  const parts: string[] = [];
  for (const name of ["resting order", "fill", "batch", "many markets"] as const) {
    // No other session shall write here: the announcements are sent when it is their turn.
    const databaseName = `profile_${name.replace(" ", "_")}`;
    const database = await cluster.createDatabase(databaseName, { isServed: true });
    const workload = await prepare[name](bench, database);
    await call(database.pool, workload);
    parts.push(`### ${workload.name}`, await timeStages(database.pool, workload));
    parts.push(await measureWrites(database.pool, workload));
    parts.push(await timeAnnouncing(database.pool));
    await database.drop();
  }
  console.error(`  profiled ${sizes.profiledCalls} calls of each kind`);
  return parts.join("\n\n");
}

const prepare = {
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
async function call(pool: Pool, { script, calls }: Workload): Promise<number> {
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

/** The session that seeded may have counts of its own to hand in yet. */
async function resetStatistics(pool: Pool): Promise<void> {
  await pool.query("select pg_stat_force_next_flush()");
  await pool.query("select pg_stat_reset()");
}

async function timeStages(pool: Pool, workload: Workload): Promise<string> {
  const { calls, orders } = workload;
  await resetStatistics(pool);
  const latencyMs = await call(pool, workload);
  const { rows } = await pool.query(
    `select schemaname || '.' || funcname as name, calls, total_time, self_time
     from pg_stat_user_functions
     order by total_time desc`,
  );
  const inMicroseconds = (ms: number) => ((ms * 1000) / calls).toFixed(1);
  const whole = rows[0]?.total_time ?? 0;
  const lines = rows.map((row) => [
    row.name,
    (row.calls / calls).toFixed(1),
    inMicroseconds(row.total_time),
    inMicroseconds(row.self_time),
    `${((100 * row.self_time) / whole).toFixed(1)} %`,
  ]);
  const callMs = latencyMs.toFixed(3);
  const insideMs = (whole / calls).toFixed(3);
  return [
    `One client: ${callMs} ms a call, of which ${insideMs} ms in the function; the rest is ` +
      `commit, protocol and pgbench. An order takes ${((latencyMs * 1000) / orders).toFixed(0)} µs.`,
    markdownTable(["function", "calls", "total µs", "self µs", "self"], lines),
  ].join("\n\n");
}

interface Wal {
  lsn: string;
  records: number;
  images: number;
}

async function measureWrites(pool: Pool, workload: Workload): Promise<string> {
  const tables = await tableWrites(pool, workload);
  const withImages = await walOf(pool, workload, "on");
  const withoutImages = await walOf(pool, workload, "off");
  await setFullPageWrites(pool, "on");
  return [
    `WAL an order: ${withoutImages.bytes} bytes in ${withoutImages.records} records without page ` +
      `images; ${withImages.bytes} bytes with ${withImages.images} images right after a checkpoint.`,
    tables,
  ].join("\n\n");
}

/** What a run adds to the WAL for each order, begun right after a checkpoint. */
async function walOf(
  pool: Pool,
  workload: Workload,
  fullPageWrites: "on" | "off",
): Promise<Record<"bytes" | "records" | "images", string>> {
  await setFullPageWrites(pool, fullPageWrites);
  // Long enough for the checkpointer to have read the setting.
  await delay(100);
  await pool.query("checkpoint");
  const before = await readWal(pool);
  await call(pool, workload);
  const after = await readWal(pool);
  const { rows } = await pool.query("select pg_wal_lsn_diff($1, $2)::float8 as bytes", [
    after.lsn,
    before.lsn,
  ]);
  const orders = workload.calls * workload.orders;
  const perOrder = (figure: number, digits: number) => (figure / orders).toFixed(digits);
  return {
    bytes: perOrder(rows[0].bytes, 0),
    records: perOrder(after.records - before.records, 1),
    images: perOrder(after.images - before.images, 2),
  };
}

async function setFullPageWrites(pool: Pool, value: "on" | "off"): Promise<void> {
  await pool.query(`alter system set full_page_writes = ${value}`);
  await pool.query("select pg_reload_conf()");
}

async function readWal(pool: Pool): Promise<Wal> {
  const { rows } = await pool.query(
    `select pg_current_wal_lsn() as lsn, wal_records::float8 as records, wal_fpi::float8 as images
     from pg_stat_wal`,
  );
  return rows[0];
}

/** The tables that a run writes, whether its updates were HOT, and the dead rows it leaves. */
async function tableWrites(pool: Pool, workload: Workload): Promise<string> {
  await pool.query("vacuum");
  await resetStatistics(pool);
  await call(pool, workload);
  const { rows } = await pool.query(
    `select
       schemaname || '.' || relname as name, n_tup_ins::float8 as inserted,
       n_tup_upd::float8 as updated, n_tup_hot_upd::float8 as hot, n_tup_del::float8 as deleted,
       n_dead_tup::float8 as dead
     from pg_stat_user_tables
     where n_tup_ins + n_tup_upd + n_tup_del > 0
     order by name`,
  );
  const orders = workload.calls * workload.orders;
  const perOrder = (figure: number) => (figure / orders).toFixed(2);
  const lines = rows.map(({ name, inserted, updated, hot, deleted, dead }) => [
    name,
    perOrder(inserted),
    perOrder(updated),
    updated === 0 ? "-" : `${((100 * hot) / updated).toFixed(0)} %`,
    perOrder(deleted),
    perOrder(dead),
  ]);
  const heads = ["table, rows an order", "inserted", "updated", "HOT", "deleted", "dead after"];
  return markdownTable(heads, lines);
}

/** What it takes to tell listeners what the runs above have announced. */
async function timeAnnouncing(pool: Pool): Promise<string> {
  const count = await readNumber(pool, "select count(*) from trading.outbox");
  const began = performance.now();
  while ((await readNumber(pool, "select api.relay_outbox()")) > 0);
  const perAnnouncement = ((performance.now() - began) * 1000) / count;
  return `Announcing, by another session: ${perAnnouncement.toFixed(1)} µs an announcement.`;
}
