import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import test from "ava";
import pg from "pg";
import { examine } from "../../src/doctor/examine.ts";
import type { Finding } from "../../src/doctor/finding.ts";
import {
  connectionStringFor,
  createDatabase,
  withClient,
} from "../helpers/database/test_database.ts";
import { startTemporaryCluster } from "../helpers/database/temporary_cluster.ts";
import { makeQueue } from "../helpers/exchange/test_worker.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { rootDirectory } from "../helpers/repository.ts";
import { until } from "../helpers/until.ts";
import { startProcess } from "../helpers/processes/service_process.ts";

/** What `npm run doctor` says is caused here, and then repaired. */

const exchange = testExchange(test, { breaks: ["traders count equals who traded"] });
const pool = () => exchange.database.pool;

const look = (publicUrl?: string): Promise<Finding[]> =>
  withClient(pool(), async (client) => (await examine(client, publicUrl)).findings);

/** The findings about something, as "urgency problem". */
async function about(what: string, publicUrl?: string): Promise<string[]> {
  const findings = await look(publicUrl);
  return findings
    .filter((finding) => finding.about === what)
    .map(({ urgency, problem }) => `${urgency} ${problem}`);
}

test.before(async () => {
  await makeQueue(exchange.database);
});

test.serial("the ledger: never checked, checked, broken, checked too long ago", async (t) => {
  t.deepEqual(await about("ledger"), ["soon the ledger was never checked"]);
  await pool().query("select jobs.verify_ledger()");
  t.deepEqual(await about("ledger"), []);
  const market = await exchange.makeMarket();
  const set = (count: number) =>
    pool().query(
      `update trading.market_state set traders_count = $2
       where market_id = (select id from catalog.markets where public_id = $1)`,
      [market, count],
    );
  await set(9);
  await pool().query("select jobs.verify_ledger()");
  t.deepEqual(await about("ledger"), ["now the last check found 1 differences"]);
  await set(0);
  await pool().query("select jobs.verify_ledger()");
  await exchange.clock.advance(3 * 86_400_000);
  t.deepEqual(await about("ledger"), ["soon the last check is 3.0 days old"]);
  await exchange.clock.release();
});

test.serial("jobs: no worker, a worker, a release that is late, a pause", async (t) => {
  await pool().query("update core.worker_heartbeat set beat_at = null");
  t.deepEqual(await about("worker"), ["now no worker has ever worked"]);
  await pool().query("select jobs.beat()");
  t.deepEqual(await about("worker"), []);
  const trader = await exchange.makeTrader();
  const { market: live } = await exchange.makeLiveMarket();
  await exchange.place(live, trader, { orderType: "buy", side: "yes", quantity: 1, price: 10 });
  t.deepEqual(await about("jobs"), []);
  await exchange.clock.advance(60_000);
  t.regex((await about("jobs"))[0] ?? "", /^now releases or expiries are 5\d s late$/);
  t.regex((await about("worker"))[0] ?? "", /^now no worker has worked for 6\d s$/);
  await exchange.clock.release();
  await exchange.operate("set_trading_pause", { paused: true });
  t.deepEqual(await about("trading"), ["note the site is paused"]);
  await exchange.operate("set_trading_pause", { paused: false });
});

test.serial("servers refuse a database that lacks migrations", async (t) => {
  const finding = (await look()).find(({ about: what }) => what === "readiness");
  t.is(finding?.urgency, "now");
  t.regex(finding?.remedy ?? "", /run npm run migrate/);
});

test.serial("settings: the cluster of the tests does without fsync", async (t) => {
  const settings = await about("settings");
  t.regex(settings[0] ?? "", /^now acknowledged orders can be lost: fsync is off/);
  t.true(settings.includes("soon max_wal_size is 0.3 GB"), settings.join());
  await withClient(pool(), async (client) => {
    await client.query("set track_counts = off");
    const { findings } = await examine(client, undefined);
    t.true(findings.some(({ problem }) => problem.startsWith("track_counts is off")));
  });
  t.deepEqual((await look())[0]?.urgency, "now");
});

test.serial(
  "durability: a login of the service commits without waiting for the disk",
  async (t) => {
    const login = `doctor_lossy_${process.pid}`;
    const { rows } = await pool().query("select current_database() as name");
    const database = rows[0].name as string;
    const problem = `now acknowledged orders can be lost: synchronous_commit is not on for ${login}`;
    const named = async () => (await about("durability")).some((line) => line.includes(login));
    await pool().query(`create role ${login} login`);
    try {
      await pool().query(`alter role ${login} set synchronous_commit = off`);
      t.false(await named(), "it is no login of the service");
      await pool().query(`grant exchange_api to ${login}`);
      t.true((await about("durability")).includes(problem));
      await pool().query(`alter role ${login} in database ${database} set synchronous_commit = on`);
      t.false(await named(), "in this database it waits");
      await pool().query(`alter role ${login} in database ${database} set synchronous_commit = no`);
      t.true(await named());
      await pool().query(`alter role ${login} in database ${database} reset all`);
      await pool().query(`alter role ${login} reset all`);
      await pool().query(`alter database ${database} set synchronous_commit = off`);
      t.true(await named());
      await pool().query(`alter role ${login} set synchronous_commit = local`);
      t.false(await named());
    } finally {
      await pool().query(`alter database ${database} reset all`);
      await pool().query(`drop owned by ${login}; drop role ${login}`);
    }
  },
);

test.serial("restore: settings of a restore are there until they are reset", async (t) => {
  const programsDirectory = process.env.TEST_POSTGRES_BIN;
  const cluster = await startTemporaryCluster("doctor", {
    database: "postgres",
    settings: {
      fsync: "off",
      recovery_target_time: "2030-01-01 14:02:30+00",
      restore_command: "one of all nodes",
    },
    ...(programsDirectory && { programsDirectory }),
  });
  const client = new pg.Client({ connectionString: cluster.server.connectionString });
  try {
    await client.connect();
    const named = async () => {
      const { findings } = await examine(client, undefined);
      return findings
        .filter(({ about: what }) => what === "restore")
        .map(({ urgency, problem }) => `${urgency} ${problem}`);
    };
    const setAndSee = async (statement: string, seen: string[]) => {
      await client.query(statement);
      await client.query("select pg_reload_conf()");
      await until(statement, async () => (await named()).join() === seen.join());
      t.deepEqual(await named(), seen);
    };
    const problem = "soon a restore has left its settings: recovery_target_time";
    t.deepEqual(await named(), [problem]);
    await setAndSee("alter system set restore_command = 'cp'", [`${problem}, restore_command`]);
    await setAndSee("alter system reset restore_command", [problem]);
    // It stays in this process, but not in the file, of which a new standby gets a copy.
    await setAndSee("alter system set recovery_target_time = ''", []);
  } finally {
    await client.end();
    await cluster.destroy();
  }
});

test.serial("limits: a login of the service has none, and then one that is too high", async (t) => {
  const login = `doctor_${process.pid}`;
  const named = async () => {
    const limits = await about("limits");
    return limits.some((line) => line.startsWith("soon logins") && line.includes(login));
  };
  await pool().query(`create role ${login} login in role exchange_api`);
  try {
    t.true(await named());
    await pool().query(`alter role ${login} connection limit 380`);
    t.false(await named());
    const summed = (await about("limits")).find((line) => line.startsWith("soon the limits"));
    t.regex(summed ?? "", /^soon the limits of logins add up to \d+ of 39\d connections$/);
  } finally {
    await pool().query(`drop role ${login}`);
  }
});

test.serial("the certificate of the website", async (t) => {
  t.deepEqual(await about("certificate"), ["note PUBLIC_URL is not set"]);
  t.deepEqual(await about("certificate", "http://markets.example"), [
    "soon PUBLIC_URL is not https",
  ]);
  // Without a certificate no handshake succeeds.
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const [refused = ""] = await about("certificate", `https://localhost:${port}`);
  t.regex(refused, /^now browsers refuse localhost: /);
  server.close();
});

test.serial("a login without rights learns what it can't look at", async (t) => {
  const { findings, looked } = await withClient(
    exchange.database.connectAs("exchange_analyst", { max: 1 }),
    (client) => examine(client, undefined),
  );
  const unseen = findings.filter(({ problem }) => problem.startsWith("could not be looked at"));
  t.true(unseen.map((finding) => finding.about).includes("ledger"));
  t.true(unseen.every(({ urgency }) => urgency === "note"));
  t.false(looked.includes("ledger"));
  t.true(looked.includes("settings"));
});

test.serial(
  "a database without the schema lacks migrations, and nothing else is reported",
  async (t) => {
    const empty = await createDatabase({ empty: true });
    const { findings } = await withClient(empty.pool, (client) => examine(client, undefined));
    await empty.drop();
    t.true(findings.some(({ about: what }) => what === "readiness"));
    t.deepEqual(
      findings.filter(({ problem }) => problem.startsWith("could not be looked at")),
      [],
    );
  },
);

test.serial("npm run doctor prints findings, the most urgent first, and ends with 1", async (t) => {
  const database = new URL(exchange.database.connectionString.replace("@/", "@localhost/"));
  const DATABASE_URL = connectionStringFor(database.pathname.slice(1));
  const doctor = startProcess(t, "doctor.ts", { DATABASE_URL });
  t.true(await doctor.says("looked at: readiness, replication"), doctor.errors());
  t.is(await doctor.exited, 1);
});

test.serial("npm run doctor has the settings of a server's sessions", async (t) => {
  // With the mark of each migration, as servers have it.
  const migrated = await createDatabase({ empty: true });
  const name = new URL(migrated.connectionString.replace("@/", "@localhost/")).pathname.slice(1);
  const DATABASE_URL = connectionStringFor(name);
  try {
    const migrate = startProcess(t, "migrate.ts", { DATABASE_URL });
    t.is(await migrate.exited, 0, migrate.errors());
    for (const setting of [
      "DateStyle = 'SQL, DMY'",
      "row_security = off",
      "default_transaction_isolation = 'repeatable read'",
      "bytea_output = 'escape'",
    ]) {
      await withClient(pool(), (client) => client.query(`alter database ${name} set ${setting}`));
    }
    const doctor = startProcess(t, "doctor.ts", { DATABASE_URL });
    t.true(await doctor.says("looked at: readiness, replication"), doctor.errors());
    t.notRegex(doctor.output(), /readiness: servers refuse/);
  } finally {
    await migrated.drop();
  }
});

test("npm run doctor makes no database, and knows no arguments", (t) => {
  const checkout = mkdtempSync(join(tmpdir(), "pgmarkets-doctor-"));
  t.teardown(() => {
    rmSync(checkout, { recursive: true });
  });
  for (const name of ["package.json", "node_modules", "src", "db", "migrate", "jobs"]) {
    symlinkSync(join(rootDirectory, name), join(checkout, name));
  }
  const diagnose = (...args: string[]) => {
    const flags = ["--preserve-symlinks", "--preserve-symlinks-main", "src/bin/doctor.ts"];
    const options = { cwd: checkout, env: { PATH: process.env.PATH }, encoding: "utf8" } as const;
    return spawnSync(process.execPath, [...flags, ...args], options);
  };
  const { status, stderr } = diagnose();
  t.deepEqual(
    [status, stderr],
    [1, "There is no embedded PostgreSQL to look at: set DATABASE_URL\n"],
  );
  t.regex(diagnose("--help").stderr, /^Unknown option '--help'/);
  t.false(existsSync(join(checkout, ".data")));
});
