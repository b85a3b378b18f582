import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { checkAndDrop } from "./bench.ts";
import type { Bench } from "./bench.ts";
import type { Result } from "./report.ts";
import { call, prepare } from "./workloads.ts";
import type { Workload } from "./workloads.ts";

/** What a run adds to the WAL for an order. */
export interface WalOfOrder {
  bytes: number;
  records: number;
  images: number;
}

/** What the call of a lone order adds to the WAL, without the images of pages and without the relay. */
export async function measureWal(bench: Bench): Promise<Result[]> {
  const results: Result[] = [];
  for (const [kind, must, aim] of [
    ["resting order", 1200, 1000],
    ["fill", 2500, 2000],
  ] as const) {
    const database = await bench.cluster.createDatabase(`wal_${kind.replace(" ", "_")}`, {
      isServed: true,
    });
    const { pool } = database;
    const workload = await prepare[kind](bench, database);
    await call(pool, workload);
    const ours: number[] = [];
    await setForCluster(pool, "autovacuum", "off");
    for (let round = 1; round <= bench.sizes.rounds; round++) {
      const { bytes } = await walOf(pool, workload, "off");
      console.error(`  WAL, ${kind}, round ${round}: ${bytes.toFixed(0)} bytes`);
      ours.push(bytes);
    }
    for (const name of ["full_page_writes", "autovacuum"]) await setForCluster(pool, name, "on");
    await checkAndDrop(database);
    const target = `WAL of a call, without images of pages: ${workload.name.toLowerCase()}`;
    results.push({ target, unit: "B", must, aim, ours });
  }
  return results;
}

/** What a run adds to the WAL for each order, begun right after a checkpoint. */
export async function walOf(
  pool: Pool,
  workload: Workload,
  fullPageWrites: "on" | "off",
): Promise<WalOfOrder> {
  await setForCluster(pool, "full_page_writes", fullPageWrites);
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
  return {
    bytes: rows[0].bytes / orders,
    records: (after.records - before.records) / orders,
    images: (after.images - before.images) / orders,
  };
}

export async function setForCluster(pool: Pool, name: string, value: "on" | "off"): Promise<void> {
  await pool.query(`alter system set ${name} = ${value}`);
  await pool.query("select pg_reload_conf()");
}

async function readWal(pool: Pool): Promise<{ lsn: string; records: number; images: number }> {
  const { rows } = await pool.query(
    `select pg_current_wal_lsn() as lsn, wal_records::float8 as records, wal_fpi::float8 as images
     from pg_stat_wal`,
  );
  return rows[0];
}
