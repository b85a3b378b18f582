import { dirname } from "node:path";
import test from "ava";
import { pino } from "pino";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { makePool } from "../../src/database/pools.ts";
import { examine } from "../../src/doctor/examine.ts";
import { findPrograms } from "../../src/local/postgres_process.ts";
import { startWorker } from "../../src/worker/start_worker.ts";
import { startStockCluster } from "../helpers/database/stock_cluster.ts";
import { withClient } from "../helpers/database/test_database.ts";

/** Roles belong to the cluster, so this has one of its own. */

test("a role that was renamed or dropped: migration and doctor say what to do", async (t) => {
  const { TEST_POSTGRES_BIN } = process.env;
  const { postgres } = await findPrograms(TEST_POSTGRES_BIN === "" ? undefined : TEST_POSTGRES_BIN);
  const cluster = await startStockCluster(dirname(postgres));
  const connectionString = cluster.url;
  const pool = makePool({ connectionString, max: 1 });
  const look = async () => {
    const { findings } = await withClient(pool, (client) => examine(client, undefined));
    return findings.filter(({ problem }) => /lacks|could not/.test(problem));
  };
  const work = async () => {
    const logger = pino({ level: "silent" });
    await (await startWorker({ connectionString, logger, crontab: [] })).close();
  };
  try {
    await migrateDatabase(cluster.url);
    for (const role of ["exchange_owner", "exchange_worker"]) {
      await pool.query(`alter role ${role} rename to other`);
      await t.throwsAsync(migrateDatabase(cluster.url), {
        name: "DatabaseNotReadyError",
        message: new RegExp(`^The cluster lacks ${role}: .* rename to ${role}`),
      });
      const [finding, ...others] = await look();
      t.like(finding, { urgency: "now", about: "roles", problem: `the cluster lacks ${role}` });
      t.deepEqual(others, []);
      await pool.query(`alter role other rename to ${role}`);
    }
    t.deepEqual(await look(), []);
    t.deepEqual(await migrateDatabase(cluster.url), []);

    await pool.query("drop owned by exchange_worker; drop role exchange_worker");
    t.regex((await look())[0]?.remedy ?? "", /create role exchange_worker nologin/);
    await pool.query("create role exchange_worker nologin");
    t.is((await migrateDatabase(cluster.url)).length, 1);
    t.deepEqual(await migrateDatabase(cluster.url), []);
    await work();

    await pool.query("alter database postgres set default_transaction_read_only = on");
    await t.throwsAsync(work(), { name: "DatabaseNotReadyError", message: /read-only/ });
  } finally {
    await pool.end();
    await cluster.destroy();
  }
});
