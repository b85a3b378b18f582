import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import type { ExecutionContext } from "ava";
import type { Pool } from "pg";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { makePool } from "../../src/database/pools.ts";
import { checkPreparedStatements } from "../../src/database/prepared_statements.ts";
import { findRunner } from "../../src/local/postgres_process.ts";
import { sharesOf } from "../../src/database/server_pools.ts";
import { readConfig } from "../../src/config.ts";
import { createReadiness } from "../../src/database/readiness.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import { readText } from "../helpers/repository.ts";
import { startProcess } from "../helpers/processes/service_process.ts";

/** The configuration of deploy/pgbouncer, with the PgBouncer that is installed, if one is. */

const version = /PgBouncer (\d+)\.(\d+)/.exec(String(spawnSync("pgbouncer", ["--version"]).stdout));
const minor = Number(version?.[2]);
const isOld = Number(version?.[1]) === 1 && minor < 21;

/** A test that needs PgBouncer. Where it is not installed, AVA lists it as skipped. */
function testWithPooler(title: string, run: (t: ExecutionContext) => Promise<void>): void {
  if (version === null) test.serial.skip(`${title}: pgbouncer is not installed`, () => undefined);
  else test.serial(title, run);
}

const documented = readText("deploy/pgbouncer/pgbouncer.ini");

interface Pooler {
  connectionString: string;
  end: () => Promise<void>;
}

async function startPooler(
  direct: string,
  poolMode: string,
  settings: Record<string, string> = {},
): Promise<Pooler> {
  const url = new URL(direct.replace("@/", "@localhost/"));
  const host = url.searchParams.get("host") ?? "";
  const port = url.searchParams.get("port") ?? "5432";
  const database = url.pathname.slice(1);
  const directory = await mkdtemp(join(tmpdir(), "pgmarkets-pgbouncer-"));
  const users = join(directory, "userlist.txt");
  await writeFile(users, `"${url.username}" ""\n`);
  const configuration = [
    ...documented
      .replace(
        "pgmarkets = host=db.example port=5432 dbname=pgmarkets",
        `${database} = host=${host} port=${port}`,
      )
      .replace("listen_addr = 127.0.0.1", `unix_socket_dir = ${directory}`)
      .replace("auth_type = scram-sha-256", "auth_type = trust")
      .replace("/etc/pgbouncer/userlist.txt", users)
      .replace("pool_mode = transaction", `pool_mode = ${poolMode}`)
      .split("\n")
      .filter((line) => !(isOld && line.startsWith("max_prepared_statements")))
      .map((line) => {
        const [name = ""] = line.split(" = ");
        return name in settings ? `${name} = ${settings[name]!}` : line;
      }),
  ].join("\n");
  const file = join(directory, "pgbouncer.ini");
  await writeFile(file, configuration);
  // It refuses root, as PostgreSQL does.
  const child = spawn("env", [...findRunner().prefix, "pgbouncer", file], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const collect = (chunk: Buffer): void => {
    said += chunk.toString();
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const exited = new Promise((resolve) => child.once("exit", resolve));
  for (let waited = 0; !said.includes("process up"); waited += 20) {
    if (waited > 20_000 || child.exitCode !== null) throw new Error(`no pooler:\n${said}`);
    await delay(20);
  }
  return {
    connectionString: `postgresql://${url.username}@/${database}?host=${directory}&port=6432`,
    end: async () => {
      child.kill("SIGKILL");
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function withPooler(
  poolMode: "session" | "transaction",
  work: (connectionString: string) => Promise<void>,
  settings: Record<string, string> = {},
): Promise<void> {
  const database = await createDatabase({ empty: true });
  try {
    await migrateDatabase(database.connectionString);
    const pooler = await startPooler(database.connectionString, poolMode, settings);
    try {
      await work(pooler.connectionString);
    } finally {
      await pooler.end();
    }
  } finally {
    await database.drop();
  }
}

async function listens(t: ExecutionContext, connectionString: string): Promise<void> {
  const server = startProcess(t, "server.ts", { DATABASE_URL: connectionString });
  t.truthy(await server.listening, server.errors());
  server.kill("SIGTERM");
  t.is(await server.exited, 0);
}

/** The readiness while others use the server connections by turns. */
async function reasonUnderLoad(connectionString: string): Promise<string | undefined> {
  const [pool, others] = [1, 4].map((max) => makePool({ connectionString, max })) as [Pool, Pool];
  const readiness = createReadiness(pool, { waitMs: () => 0 });
  let reason: string | undefined;
  const load = Array.from({ length: 4 }, async () => {
    while (reason === undefined) await others.query("select pg_sleep(random() / 50)");
  });
  for (let attempt = 0; attempt < 30 && reason === undefined; attempt++) {
    await delay(550); // its answer holds for half a second
    reason = await readiness.check();
  }
  reason ??= "none";
  await Promise.all(load);
  await Promise.all([pool.end(), others.end()]);
  return reason;
}

testWithPooler("session pooling: the server starts, whatever the version", async (t) => {
  await withPooler("session", (connectionString) => listens(t, connectionString));
});

testWithPooler(
  isOld
    ? "transaction pooling by an old version: refused in a line, and /readyz says it"
    : "transaction pooling: the server starts",
  async (t) => {
    await withPooler("transaction", async (connectionString) => {
      if (!isOld) {
        await listens(t, connectionString);
        return;
      }
      for (const script of ["server.ts", "worker.ts"]) {
        const running = startProcess(t, script, { DATABASE_URL: connectionString });
        t.is(await running.exited, 1);
        t.regex(running.errors(), /^Prepared statements get lost .* 1\.21 .*$/m);
        t.notRegex(running.errors(), /\n +at /);
      }
      t.is(await reasonUnderLoad(connectionString), "prepared_statements");
    });
  },
);

testWithPooler("a pool that is too small: the wait is logged with its reason", async (t) => {
  const settings = { default_pool_size: "4" };
  await withPooler(
    "session",
    async (connectionString) => {
      const server = startProcess(t, "server.ts", { DATABASE_URL: connectionString });
      t.true(await server.says("waiting for the database"), server.errors());
      t.regex(server.errors(), /took longer than \d+ s: .*a pooler between has no connection left/);
      server.kill("SIGTERM");
      t.is(await server.exited, 0, server.errors());
    },
    settings,
  );
});

test("the documented pool has room for a server in session mode", (t) => {
  const { poolSize } = readConfig({});
  const ofPools = Object.values(sharesOf(poolSize)).reduce((sum, share) => sum + share, 0);
  const needed = ofPools + 1; // the one that listens
  t.true(Number(/^default_pool_size = (\d+)$/m.exec(documented)?.[1]) >= needed);
  const section = readText("docs/operating/running.md").split("\n## PgBouncer\n")[1]!;
  t.true(section.includes(`${needed} for each server with \`POOL_SIZE\` ${poolSize}`));
});

test("direct connections keep their prepared statements", async (t) => {
  const database = await createDatabase({ empty: true });
  try {
    await migrateDatabase(database.connectionString);
    await t.notThrowsAsync(checkPreparedStatements(database.pool));
    // As a server connection that was another client's before.
    const pool = makePool({ connectionString: database.connectionString, max: 1 });
    pool.on("connect", (client) => {
      void client.query("prepare pgmarkets_ready as select");
    });
    t.is(await createReadiness(pool, { waitMs: () => 0 }).check(), "prepared_statements");
    await pool.end();
  } finally {
    await database.drop();
  }
});
