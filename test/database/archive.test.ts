import { dirname } from "node:path";
import test from "ava";
import { call } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { makePool } from "../../src/database/pools.ts";
import { examine } from "../../src/doctor/examine.ts";
import { findPrograms } from "../../src/local/postgres_process.ts";
import { startStockCluster } from "../helpers/database/stock_cluster.ts";
import { withClient } from "../helpers/database/test_database.ts";
import { until } from "../helpers/until.ts";

/** A PostgreSQL whose archive fails, and then works. */

test("metrics, admin.health and the doctor tell while the archive does not take the WAL", async (t) => {
  const { TEST_POSTGRES_BIN } = process.env;
  const { postgres } = await findPrograms(TEST_POSTGRES_BIN === "" ? undefined : TEST_POSTGRES_BIN);
  const cluster = await startStockCluster(dirname(postgres), { archive_mode: "on" });
  const pool = makePool({ connectionString: cluster.url, max: 1 });
  const serverPool = makePool({ connectionString: cluster.url, role: "exchange_api", max: 1 });
  const told = async () => {
    const { archiveFails } = await withClient(serverPool, (client) =>
      call(client, api.getArchiveMetrics, {}),
    );
    const { rows } = await pool.query("select is_good from admin.health where item = 'archive'");
    const { findings } = await withClient(pool, (client) => examine(client, undefined));
    const doctor = findings.filter(({ about }) => about === "backup").map(({ urgency }) => urgency);
    return { archiveFails, isGood: rows[0].is_good, doctor };
  };
  const archiveBy = async (command: string) => {
    await pool.query(`alter system set archive_command = '${command}'`);
    await pool.query("select pg_reload_conf()");
    await pool.query("create table public.written (); drop table public.written");
    await pool.query("select pg_switch_wal()");
  };
  const counts = async (column: string, above: number) =>
    Number((await pool.query(`select ${column} as n from pg_stat_archiver`)).rows[0].n) > above;
  try {
    await migrateDatabase(cluster.url);
    t.deepEqual(await told(), { archiveFails: false, isGood: true, doctor: [] });
    await archiveBy("false");
    await until("it fails", () => counts("failed_count", 0));
    const failing = { archiveFails: true, isGood: false, doctor: ["now"] };
    t.deepEqual(await told(), failing, "nothing was ever archived");
    await archiveBy("true");
    await until("it works", () => counts("archived_count", 0), 90_000);
    t.deepEqual(await told(), { archiveFails: false, isGood: true, doctor: [] });
    await archiveBy("false");
    await until("it fails again", async () => (await told()).archiveFails);
    t.deepEqual(await told(), failing);
  } finally {
    await pool.end();
    await serverPool.end();
    await cluster.destroy();
  }
});
