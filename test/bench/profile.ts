import type { Pool } from "pg";
import { readNumber } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { markdownTable } from "./report.ts";
import { call, prepare } from "./workloads.ts";
import type { Workload } from "./workloads.ts";
import { setForCluster, walOf } from "./write_ahead_log.ts";

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

async function measureWrites(pool: Pool, workload: Workload): Promise<string> {
  const tables = await tableWrites(pool, workload);
  const withImages = await walOf(pool, workload, "on");
  const withoutImages = await walOf(pool, workload, "off");
  await setForCluster(pool, "full_page_writes", "on");
  return [
    `WAL an order: ${withoutImages.bytes.toFixed(0)} bytes in ${withoutImages.records.toFixed(1)} ` +
      `records without page images; ${withImages.bytes.toFixed(0)} bytes with ` +
      `${withImages.images.toFixed(2)} images right after a checkpoint.`,
    tables,
  ].join("\n\n");
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
