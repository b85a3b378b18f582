import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import pg from "pg";
import { pino } from "pino";
import { listCommitted } from "../../migrate/releases.ts";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { asServerPools } from "../../src/database/server_pools.ts";
import { serve } from "../../src/server/start_server.ts";
import { version } from "../../src/version.ts";
import { replaceDatabase } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { createExchange } from "../helpers/exchange/test_exchange.ts";
import type { Exchange } from "../helpers/exchange/test_exchange.ts";
import { rootDirectory } from "../helpers/repository.ts";
import { findDebianPostgres } from "../helpers/database/stock_cluster.ts";
import { startTemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { until } from "../helpers/until.ts";
import { startTestWorker } from "../helpers/exchange/test_worker.ts";
import { fixtureFiles, findMissing } from "./fixture.ts";
import type { Facts } from "./fixture.ts";
import { playHistory } from "./history.ts";
import type { World } from "./history.ts";

/**
 * `npm run release:fixture`: keeps the version of package.json for the tests of later ones, in
 * test/upgrade/fixtures/: the rows of a database that was in use, what the tests have to know of
 * them, and the files of the server. Part of `npm run release`.
 *
 * The database is made by the committed migrations and filled by calls of its functions, by HTTP
 * and by the worker. It needs the PostgreSQL of Debian, for pg_dump: a dump of the oldest version
 * that is supported can be restored in all of them.
 *
 * The kept server has no dependencies of its own: the tests run it with those of this checkout.
 * If a later version gives one up, the package.json of the kept server says what is missing; keep
 * it then as a development dependency, or remove the fixture of a version that is too old.
 */

const programs = findDebianPostgres();
if (programs === undefined) throw new Error("This needs Debian's PostgreSQL: its pg_dump");
process.env.TEST_SEED ??= "20261122";

const cluster = await startTemporaryCluster("fixture", {
  programsDirectory: programs,
  settings: { fsync: "off", max_connections: "300" },
});
try {
  const url = replaceDatabase(cluster.server.connectionString, "postgres");
  const facts = await fill(url);
  await writeFile(fixtureFiles(version).facts, `${JSON.stringify(facts, null, 2)}\n`);
  await packServer(fixtureFiles(version).server);
} finally {
  await cluster.destroy();
}

async function fill(url: string): Promise<Facts> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("create database fixture_template template template0 encoding 'UTF8'");
  await client.end();
  await migrateDatabase(replaceDatabase(url, "fixture_template"));
  process.env.TEST_CLUSTER_URL = url;
  process.env.TEST_TEMPLATE = "fixture_template";
  process.env.TEST_DATABASE_PREFIX = "fixture";

  const exchange = await createExchange({ idsAscend: true });
  try {
    const world = await playHistory(exchange);
    await restoreClock(exchange);
    const facts: Facts = {
      ...{ version, migrations: await listCommitted(), ...world },
      apiKeys: await makeKeys(exchange, world),
    };
    await serveAndWork(exchange, facts);
    const violations = await exchange.verify();
    if (violations.length > 0) throw new Error(JSON.stringify(violations));
    const missing = await findMissing(exchange.database.pool);
    if (missing.length > 0) throw new Error(`The history lacks ${missing.join(", ")}`);
    const text = await dump(exchange.database);
    await writeFile(fixtureFiles(version).dump, gzipSync(text, { level: 9 }));
    return facts;
  } finally {
    await exchange.database.drop();
  }
}

/** The clock of the tests leaves the database. */
async function restoreClock({ clock, database: { pool } }: Exchange): Promise<void> {
  await clock.release();
  await pool.query(await readFile(join(rootDirectory, "db/core/functions/now.sql"), "utf8"));
  await pool.query("drop schema test_clock cascade");
}

async function makeKeys({ operate }: Exchange, { traders }: World): Promise<string[]> {
  const keys: string[] = [];
  for (const user_id of traders)
    keys.push(await operate("create_api_key", { user_id, name: "bot" }));
  await operate("create_session", { user_id: traders[0], valid_for: "100 years" });
  await operate("create_staff_key", { name: "reports", role: "analyst" });
  await operate("set_rate_policy", { user_id: traders[0], tier: "elevated" });
  return keys;
}

/** The last minutes before the dump: requests by HTTP, and a worker. */
async function serveAndWork(exchange: Exchange, facts: Facts): Promise<void> {
  const { database, place } = exchange;
  const [maker, taker] = facts.traders;
  const [market] = facts.openMarkets;
  const worker = await startTestWorker(database);
  await until("the worker knows its crontab", async () => {
    const { rows } = await database.pool.query(
      "select from graphile_worker._private_known_crontabs",
    );
    return rows.length > 0;
  });
  await worker.close();
  const service = await serve({
    pools: asServerPools(database.connectAs("exchange_api")),
    config: { host: "127.0.0.1", port: 0, trustProxy: false },
    logger: pino({ level: "silent" }),
  });
  for (const [index, apiKey] of facts.apiKeys.entries()) {
    for (const marketId of [...facts.openMarkets, facts.liveMarket]) {
      const answer = await fetch(`${service.url}/api/v1/orders`, {
        method: "POST",
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
        body: JSON.stringify({
          ...{ marketId, side: index % 2 === 0 ? "yes" : "no", quantity: 5 + index },
          ...{ price: 48 + index, idempotencyKey: randomUUID() },
        }),
      });
      if (answer.status >= 500) throw new Error(`${answer.status}: ${await answer.text()}`);
    }
  }
  await service.close();
  // What these tell stays in the outbox.
  await place(market!, maker!, { side: "yes", price: 20, quantity: 7 });
  await place(market!, taker!, { side: "no", price: 20, quantity: 7 });
}

/**
 * The partitions that were made, the queue, which another library made, and the rows. As
 * SQL that a client can send as it is: COPY and psql's own commands are left out.
 */
async function dump({ connectionString, pool }: OwnDatabase): Promise<string> {
  const { rows } = await pool.query(
    `select
       case substring(relname, '^[a-z_]+?(?=_[0-9])')
         when 'archived_orders' then 'make_archive_partition'
         else 'make_event_partition'
       end as function,
       replace(substring(relname, '[0-9_]+$'), '_', '-') as day
     from pg_class where relispartition and relkind = 'r' order by 1, 2`,
  );
  const partitions = rows.map(({ function: name, day }) => {
    const date: string = day.replace(/^-/, "");
    return `select trading.${name}('${date.length === 7 ? `${date}-01` : date} UTC');\n`;
  });
  const parts = [
    ["--schema=graphile_worker"],
    ["--data-only", "--exclude-schema=graphile_worker"],
  ].map((what) =>
    run(join(programs ?? "", "pg_dump"), [
      ...["--inserts", "--rows-per-insert=200", `--dbname=${connectionString}`],
      ...what,
    ]),
  );
  return ["set role exchange_owner;\n", ...partitions, "reset role;\n", ...parts]
    .join("\n")
    .replaceAll(/^\\(?:un)?restrict .*$/gm, "")
    .replaceAll(/^--.*$\n/gm, "");
}

/** Sources only; the committed migrations are those of the checkout, since they are frozen. */
async function packServer(path: string): Promise<void> {
  const reproducible = ["--sort=name", "--mtime=2000-01-01", "--owner=0", "--group=0"];
  const args = [...reproducible, "--numeric-owner", "--create", "src", "jobs", "package.json"];
  const { stdout, status } = spawnSync("tar", args, { cwd: rootDirectory, maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error("tar failed");
  await writeFile(path, gzipSync(stdout, { level: 9 }));
}

function run(command: string, args: string[]): string {
  const { stdout, stderr, status } = spawnSync(command, args, {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
  return stdout;
}
