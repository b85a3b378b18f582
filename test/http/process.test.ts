import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";
import type { ExecutionContext } from "ava";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { lockDown } from "../../src/database/privileges.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import type { OwnDatabase } from "../helpers/database/test_database.ts";
import { makeCheckout } from "../helpers/processes/checkout.ts";
import { startProcess } from "../helpers/processes/service_process.ts";
import type { ServiceProcess } from "../helpers/processes/service_process.ts";
import { callService } from "../helpers/http/test_service.ts";

/** A process of the service on a database. */
function start(
  t: ExecutionContext,
  script: string,
  { connectionString }: OwnDatabase,
  environment: Record<string, string> = {},
): ServiceProcess {
  return startProcess(t, script, { DATABASE_URL: connectionString, ...environment });
}

async function withEmptyDatabase(work: (database: OwnDatabase) => Promise<void>) {
  const database = await createDatabase({ empty: true });
  try {
    await work(database);
  } finally {
    await database.drop();
  }
}

test("npm start migrates and listens; npm run server serves beside it; signals end both", async (t) => {
  await withEmptyDatabase(async (database) => {
    const all = start(t, "start.ts", database);
    const url = await all.listening;
    t.truthy(url, all.errors());
    t.deepEqual((await callService(url!, "GET", "/healthz")).body, { status: "ok" });
    t.is((await callService(url!, "GET", "/api/v1/me")).status, 401);
    t.false(all.output().includes("jk_"));
    // The links of mails begin so: at an IP address browsers make no passkeys.
    const site = `http://localhost:${new URL(url!).port}`;
    t.regex(all.output(), new RegExp(`^website +${site}$`, "m"));
    t.is((await callService(site, "GET", "/sign-in")).status, 200);

    const server = start(t, "server", database);
    const otherUrl = await server.listening;
    t.truthy(otherUrl, server.errors());
    const market = "/api/v1/markets/01900000-0000-7000-8000-000000000000";
    t.is((await callService(otherUrl!, "GET", market)).status, 404);

    all.kill("SIGINT");
    // npm passes the signal on: its supervisor must not be left with an orphaned server.
    server.kill("SIGTERM");
    t.is(await all.exited, 0);
    t.is(await server.exited, 0);
  });
});

test("with DATABASE_URL the demo has no traders who trade, and with DEMO=0 there is none", async (t) => {
  // The key of the demo is kept in the checkout.
  const checkout = await makeCheckout();
  t.teardown(checkout.destroy);
  const script = join(checkout.directory, "src/bin/start.ts");
  for (const [DEMO, expected] of [
    ["1", ["demo-ada", "demo-ben", "demo-maker", "demo-trader"]],
    ["0", []],
  ] as const) {
    await withEmptyDatabase(async (database) => {
      const all = start(t, script, database, { DEMO });
      t.truthy(await all.listening, all.errors());
      const { rows } = await database.pool.query("select handle from identity.users order by 1");
      t.deepEqual(
        rows.map(({ handle }) => handle),
        expected,
      );
      const sessions = `select from pg_stat_activity
        where application_name = 'pgmarkets demo' and datname = current_database()`;
      t.deepEqual((await database.pool.query(sessions)).rows, []);
      all.kill("SIGTERM");
      t.is(await all.exited, 0);
    });
  }
});

test("a port in use and an invalid environment are reported in one line, without a stack", async (t) => {
  await withEmptyDatabase(async (database) => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const port = String((other.address() as AddressInfo).port);
    const first = start(t, "start.ts", database, { PORT: port });
    t.is(await first.exited, 1);
    t.regex(first.errors(), /^listen EADDRINUSE.*: PORT sets another port$/m);
    t.notRegex(first.errors(), /\n +at /);
    other.close();

    for (const script of ["server.ts", "migrate.ts"]) {
      const second = start(t, script, database, { PORT: "no" });
      t.is(await second.exited, 1);
      t.is(second.errors(), "The environment has errors: PORT must be a whole number\n");
    }
  });
});

test("npm run migrate warns also when there is nothing to migrate, as after a restore", async (t) => {
  await withEmptyDatabase(async (database) => {
    const migrate = async () => {
      const running = start(t, "migrate.ts", database);
      t.is(await running.exited, 0, running.errors());
      return running.output();
    };
    await migrateDatabase(database.connectionString);
    t.regex(
      await migrate(),
      /^Every login that may connect can take .* run migrate\/lock_down\.sql once\nnothing to migrate\n$/,
    );
    await lockDown(database.connectionString);
    t.is(await migrate(), "nothing to migrate\n");
  });
});

test("a signal during the start closes the worker before its database", async (t) => {
  const script = fileURLToPath(new URL("./slow_opening.ts", import.meta.url));
  const running = startProcess(t, script, {});
  t.is(await running.exited, 0, running.errors());
  t.is(running.output(), "worker opened\nworker closed\ndatabase closed\n");
});

test("42501: the start of a login that may not migrate ends with a line that names the role it needs", async (t) => {
  await withEmptyDatabase(async ({ pool, connectionString }) => {
    const login = `web_${process.pid}_${Date.now()}`;
    const url = connectionString.replace(/\/\/[^@]*@/, `//${login}@`);
    await pool.query(`create role ${login} login`);
    const refusal = async (script: string): Promise<string> => {
      const running = startProcess(t, script, { DATABASE_URL: url });
      t.is(await running.exited, 1);
      return running.errors();
    };
    const line = (what: string) =>
      `The login ${login} may not migrate the database (permission denied for ${what}): ` +
      "it needs the role exchange_owner, and connect and create on the database\n";
    try {
      const { rows } = await pool.query("select current_database() as name");
      t.is(await refusal("migrate.ts"), line(`database ${rows[0].name}`));
      await migrateDatabase(connectionString);
      await pool.query(`grant connect on database ${rows[0].name} to ${login}`);
      t.is(await refusal("migrate.ts"), line("schema graphile_migrate"));
      // What no waiting mends ends npm start likewise.
      t.is(await refusal("start.ts"), line("schema graphile_migrate"));
      await pool.query(`grant exchange_api to ${login}`);
      await lockDown(connectionString);
      t.is(await refusal("migrate.ts"), line("function pg_try_advisory_lock"));
      // As after a restore with --no-owner.
      await pool.query(`grant exchange_owner to ${login}`);
      await pool.query(`alter function api.get_metrics() owner to ${login}`);
      await pool.query("revoke all on schema graphile_worker from exchange_owner");
      await pool.query("alter schema graphile_worker owner to current_user");
      t.regex(
        await refusal("migrate.ts"),
        new RegExp(`for schema graphile_worker\\): .* belong to ${login}, .*--no-owner`),
      );
    } finally {
      await pool.query(`drop owned by ${login}`);
      await pool.query(`drop role ${login}`);
    }
  });
});

test("npm start by the three documented logins logs no stack, and logs what it leaves out", async (t) => {
  await withEmptyDatabase(async (database) => {
    const { pool, connectionString } = database;
    const unique = `${process.pid}_${Date.now()}`;
    const roles = { deploy: "exchange_owner", web: "exchange_api", jobs: "exchange_worker" };
    const logins = Object.entries(roles).map(([name, role]) => ({
      name: `${name}_${unique}`,
      role,
    }));
    const [deploy, web, jobs] = logins.map(({ name }) =>
      connectionString.replace(/\/\/[^@]*@/, `//${name}@`),
    ) as [string, string, string];
    for (const { name, role } of logins)
      await pool.query(`create role ${name} login in role ${role}`);
    const { rows } = await pool.query("select current_database() as name");
    await pool.query(`grant create on database ${rows[0].name} to deploy_${unique}`);
    try {
      const all = startProcess(t, "start.ts", {
        DATABASE_URL: deploy,
        API_DATABASE_URL: web,
        WORKER_DATABASE_URL: jobs,
      });
      t.truthy(await all.listening, all.errors());
      all.kill("SIGTERM");
      t.is(await all.exited, 0, all.errors());
      t.notRegex(all.errors(), /"stack"|\n +at /, all.errors());
      const warnings = all
        .errors()
        .split("\n")
        .filter((line) => /"level":"(?:warn|error|fatal)"/.test(line))
        .map((line): string => JSON.parse(line).msg);
      // The cluster of the tests has fsync off, and its database is not locked down.
      t.true(
        warnings.every((warning) => /^(?:acknowledged orders|Every login)/.test(warning)),
        warnings.join("\n"),
      );
      t.is(new Set(warnings).size, warnings.length);
      t.regex(all.errors(), /no GraphQL for analysts: set ANALYST_DATABASE_URL/);
      t.regex(all.errors(), /no GraphQL for operators: set OPERATOR_DATABASE_URL/);
    } finally {
      await pool.query(`drop owned by ${logins.map(({ name }) => name).join(", ")}`);
      for (const { name } of logins) await pool.query(`drop role ${name}`);
    }
  });
});
