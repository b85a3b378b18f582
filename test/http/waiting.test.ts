import test from "ava";
import type { ExecutionContext } from "ava";
import pg from "pg";
import { DatabaseNotReadyError } from "../../src/database/not_ready.ts";
import type { NotReadyReason } from "../../src/database/not_ready.ts";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { makePool } from "../../src/database/pools.ts";
import { startInSteps } from "../../src/database/start_steps.ts";
import { reasonToWait } from "../../src/database/wait_for_database.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import { startProcess } from "../helpers/processes/service_process.ts";
import type { ServiceProcess } from "../helpers/processes/service_process.ts";
import { until } from "../helpers/until.ts";
import { callService } from "../helpers/http/test_service.ts";
import { makeGate } from "./database_gate.ts";
import type { DatabaseGate } from "./database_gate.ts";

/** Real processes whose database is away, or is not what it should be. */

async function withDatabase(
  options: { migrated: boolean },
  work: (gate: DatabaseGate, connectionString: string) => Promise<void>,
): Promise<void> {
  const database = await createDatabase({ empty: true });
  const gate = await makeGate(database.connectionString);
  try {
    if (options.migrated) await migrateDatabase(database.connectionString);
    await work(gate, database.connectionString);
  } finally {
    await gate.remove();
    await database.drop();
  }
}

const waitingLines = ({ errors }: ServiceProcess): string[] =>
  errors()
    .split("\n")
    .filter((line) => line.includes("waiting for the database"));

/** Where a server listens, also before it is ready. */
const addressOf = ({ errors }: ServiceProcess): string =>
  /"url":"(\S+?)".*"listening, and not ready yet"/.exec(errors())![1]!;

/** Ends a process by SIGTERM; after how many milliseconds. */
async function end(t: ExecutionContext, running: ServiceProcess): Promise<number> {
  const from = performance.now();
  running.kill("SIGTERM");
  t.is(await running.exited, 0, running.errors());
  const tookMs = Math.round(performance.now() - from);
  t.true(tookMs < 10_000, `it ended after ${tookMs} ms\n${running.errors()}`);
  return tookMs;
}

const TRIES = 3;

/** Whether processes end within 2 s of SIGTERM, at one of some tries: the machine may be busy. */
async function endInTime(t: ExecutionContext, start: () => Promise<ServiceProcess[]>) {
  const worst: number[] = [];
  while (worst.length < TRIES) {
    const processes = await start();
    const took = await Promise.all(processes.map((running) => end(t, running)));
    worst.push(Math.max(...took));
    if (worst.at(-1)! < 2000) break;
  }
  t.true(worst.at(-1)! < 2000, `they ended after ${worst.join(", ")} ms`);
}

test.serial("a server without its database listens, logs it once, and waits", async (t) => {
  await withDatabase({ migrated: true }, async (gate) => {
    const server = startProcess(t, "server.ts", { DATABASE_URL: gate.connectionString });
    t.true(await server.says("waiting for the database"), server.errors());
    const url = addressOf(server);
    t.is((await callService(url, "GET", "/healthz")).status, 200);
    const ready = await callService(url, "GET", "/readyz");
    t.is(ready.status, 503);
    t.deepEqual(ready.body, { status: "unavailable", reason: "database_unreachable" });
    const order = await callService(url, "POST", "/api/v1/orders", { body: {} });
    t.is(order.status, 503);
    t.deepEqual(order.body, {
      error: "Temporary conflict, safe to retry",
      code: "CONFLICT_RETRY",
    });
    t.is(order.headers.get("retry-after"), "1");
    for (const { headers } of [ready, order]) {
      t.regex(headers.get("x-request-id") ?? "", /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
    }

    await new Promise((done) => setTimeout(done, 1500)); // several attempts
    t.is(server.output(), "");
    t.is(waitingLines(server).length, 1, server.errors());
    t.regex(waitingLines(server)[0]!, /"because":"connect ENOENT/);
    await gate.open();
    t.is(await server.listening, url, server.errors());
    t.is((await callService(url, "GET", "/readyz")).status, 200);
    t.is((await callService(url, "POST", "/api/v1/orders", { body: {} })).status, 401);
    await end(t, server);
  });
});

test.serial("migrations_missing: servers and workers wait until it is migrated", async (t) => {
  await withDatabase({ migrated: false }, async (gate, connectionString) => {
    await gate.open();
    const server = startProcess(t, "server.ts", { DATABASE_URL: gate.connectionString });
    const worker = startProcess(t, "worker.ts", { DATABASE_URL: gate.connectionString });
    t.true(await server.says("waiting for the database"), server.errors());
    t.true(await worker.says("waiting for the database"), worker.errors());
    t.regex(waitingLines(server)[0]!, /run npm run migrate/);
    const ready = await callService(addressOf(server), "GET", "/readyz");
    t.deepEqual(ready.body, { status: "unavailable", reason: "migrations_missing" });
    await migrateDatabase(connectionString);
    t.truthy(await server.listening, server.errors());
    t.true(await worker.says("working\n"), worker.errors());
    await end(t, worker);
    await end(t, server);
  });
});

test.serial(
  "a waiting worker is alive, is not ready, and shows the reason at WORKER_PORT",
  async (t) => {
    await withDatabase({ migrated: false }, async (gate, connectionString) => {
      const variables = { DATABASE_URL: gate.connectionString, WORKER_PORT: "0" };
      const worker = startProcess(t, "worker.ts", variables);
      t.true(await worker.says("waiting for the database"), worker.errors());
      const url = /^health +(\S+)\/readyz$/m.exec(worker.output())![1]!;
      const ready = async () => {
        const { status, body } = await callService(url, "GET", "/readyz");
        return [status, body];
      };
      t.is((await callService(url, "GET", "/healthz")).status, 200);
      t.deepEqual(await ready(), [503, { status: "unavailable", reason: "database_unreachable" }]);
      await gate.open();
      t.true(await worker.says('"reason":"migrations_missing"'), worker.errors());
      t.deepEqual(await ready(), [503, { status: "unavailable", reason: "migrations_missing" }]);
      t.regex((await callService(url, "GET", "/metrics")).body, /^pgmarkets_worker_ready 0$/m);
      await migrateDatabase(connectionString);
      t.true(await worker.says("working\n"), worker.errors());
      t.deepEqual(await ready(), [200, { status: "ok" }]);
      await end(t, worker);
    });
  },
);

test.serial(
  "sequences_behind: on a copy whose sequences are not set, servers and workers wait",
  async (t) => {
    await withDatabase({ migrated: true }, async (_gate, connectionString) => {
      const client = new pg.Client({ connectionString });
      await client.connect();
      try {
        await client.query("alter sequence trading.fee_schedules_id_seq restart");
        const lastIds = async () => {
          const { rows } = await client.query(
            "select sequencename, last_value from pg_sequences order by schemaname, sequencename",
          );
          return rows;
        };
        const before = await lastIds();
        const environment = { DATABASE_URL: connectionString };
        const running = ["server.ts", "worker.ts"].map((name) =>
          startProcess(t, name, environment),
        );
        for (const process of running) {
          t.true(await process.says('"reason":"sequences_behind"'), process.errors());
          t.true(process.errors().includes("select * from core.set_sequences()"));
        }
        t.deepEqual(await lastIds(), before, "who waits draws no id");
        await client.query("select core.set_sequences()");
        const [server, worker] = running as [ServiceProcess, ServiceProcess];
        t.truthy(await server.listening, server.errors());
        t.true(await worker.says("working\n"), worker.errors());
        for (const process of running) await end(t, process);
      } finally {
        await client.end();
      }
    });
  },
);

test.serial("a database that takes connections and gives no answer is waited for", async (t) => {
  await withDatabase({ migrated: true }, async (gate) => {
    await gate.open();
    const server = makeServer(gate);
    // Connections that are open by then get no more answers: a step of the start takes too long.
    await t.throwsAsync(
      startInSteps([server], undefined, async (step) => {
        await server.query("select");
        gate.goSilent();
        await step("checking the database", 100, () => server.query("select"));
      }),
      { message: /^checking the database took longer than 0.1 s: .*no connection left$/ },
    );
    t.is(server.totalCount, 0);
    t.true(server.ending);
    await gate.shut();
    await gate.open();

    // The signal ends a step at once.
    const ending = new AbortController();
    const other = makeServer(gate);
    const started = startInSteps([other], ending.signal, async (step) => {
      await step("checking the database", 60_000, async () => {
        await other.query("select");
        gate.goSilent();
        setImmediate(() => {
          ending.abort(new Error("a signal"));
        });
        await other.query("select");
      });
    });
    await t.throwsAsync(started, { message: "a signal" });
    t.is(other.totalCount, 0);
  });
});

const makeServer = ({ connectionString }: DatabaseGate): pg.Pool => makePool({ connectionString });

for (const how of ["shut", "goSilent"] as const) {
  const title = how === "shut" ? "refuses connections" : "no longer answers";
  test.serial(`a worker whose database ${title} ends within 2 s of SIGTERM`, async (t) => {
    await withDatabase({ migrated: true }, async (gate) => {
      await endInTime(t, async () => {
        await gate.shut();
        await gate.open();
        const worker = startProcess(t, "worker.ts", { DATABASE_URL: gate.connectionString });
        t.true(await worker.says("working\n"), worker.errors());
        await gate[how]();
        await new Promise((done) => setTimeout(done, 1500)); // until retries are under way
        return [worker];
      });
    });
  });

  test.serial(
    `a worker that waits for a database that ${title} also ends within 2 s`,
    async (t) => {
      await withDatabase({ migrated: true }, async (gate) => {
        const isSilent = how === "goSilent";
        await endInTime(t, async () => {
          await gate.shut();
          if (isSilent) {
            await gate.open();
            gate.goSilent();
          }
          const before = gate.arrivals();
          const worker = startProcess(t, "worker.ts", { DATABASE_URL: gate.connectionString });
          const server = startProcess(t, "server.ts", { DATABASE_URL: gate.connectionString });
          const bothCame = () => Promise.resolve(gate.arrivals() >= before + 2);
          if (isSilent) await until("both connect", bothCame);
          for (const running of isSilent ? [] : [worker, server]) {
            t.true(await running.says("waiting for the database"), running.errors());
          }
          return [worker, server];
        });
      });
    },
  );
}

test.serial("an error that waiting does not repair ends the process with one line", async (t) => {
  await withDatabase({ migrated: true }, async (_gate, connectionString) => {
    const missing = connectionString.replace(/\/[^/?]+\?/, "/there_is_no_such_database?");
    const stranger = connectionString.replace("postgres@", "there_is_no_such_login@");
    const pool = new pg.Pool({ connectionString });
    // It ends before its connections have, and then their database is dropped.
    pool.on("error", () => undefined);
    const unknown = `update graphile_migrate.migrations set hash = 'sha1:unknown'
      where filename = (select max(filename) from graphile_migrate.migrations)`;
    for (const script of ["server.ts", "worker.ts"]) {
      for (const [url, line] of [
        [missing, /^database "there_is_no_such_database" does not exist \(SQLSTATE 3D000\)\n$/],
        [stranger, /^role "there_is_no_such_login" does not exist \(SQLSTATE 28000\)\n$/],
      ] as const) {
        const running = startProcess(t, script, { DATABASE_URL: url, LOG_LEVEL: "warn" });
        t.is(await running.exited, 1);
        t.regex(running.errors(), line);
      }
    }
    await pool.query(unknown);
    const variables = { DATABASE_URL: connectionString, LOG_LEVEL: "warn" };
    const running = startProcess(t, "server.ts", variables);
    t.is(await running.exited, 1);
    t.regex(running.errors(), /^The database has had a migration .* another version .*\n$/);
    await pool.end();
  });
});

test.serial("in production no process falls back on the embedded PostgreSQL", async (t) => {
  for (const [script, names] of [
    ["server.ts", "API_DATABASE_URL or DATABASE_URL"],
    ["worker.ts", "WORKER_DATABASE_URL or DATABASE_URL"],
    ["migrate.ts", "DATABASE_URL"],
  ] as const) {
    const running = startProcess(t, script, { NODE_ENV: "production" });
    t.is(await running.exited, 1);
    t.true(running.errors().startsWith(`NODE_ENV is production: set ${names}. `));
  }
});

test("only errors that pass by themselves are waited for", (t) => {
  const system = (code: string): Error => Object.assign(new Error(code), { code });
  const refusal = (code: string, message = "no"): Error =>
    Object.assign(new pg.DatabaseError(message, 0, "error"), { code });
  const notReady = (reason: NotReadyReason): Error => new DatabaseNotReadyError("no", { reason });

  for (const code of ["ECONNREFUSED", "ENOENT", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT"]) {
    t.is(reasonToWait(system(code)), "database_unreachable", code);
  }
  for (const code of ["57P01", "57P03", "53300", "08006", "08P01"]) {
    t.is(reasonToWait(refusal(code)), "database_unreachable", code);
  }
  t.is(reasonToWait(new Error("timeout expired")), "database_unreachable");
  t.is(reasonToWait(new Error("Connection terminated unexpectedly")), "database_unreachable");
  t.is(
    reasonToWait(new Error("Client has encountered a connection error and is not queryable")),
    "database_unreachable",
  );
  t.is(
    reasonToWait(refusal("22023", 'role "exchange_api" does not exist')),
    "migrations_missing",
    "the first migration makes the roles",
  );
  t.is(
    reasonToWait(refusal("42501", "permission denied for schema graphile_migrate")),
    "migrations_missing",
    "the migration lets the roles look when it is done",
  );
  t.is(reasonToWait(notReady("migrations_missing")), "migrations_missing");
  t.is(reasonToWait(notReady("read_only")), "read_only");

  for (const code of ["28P01", "28000", "3D000", "42501", "42P01"]) {
    t.is(reasonToWait(refusal(code)), undefined, code);
  }
  t.is(reasonToWait(refusal("08P01", "unsupported startup parameter: options")), undefined);
  t.is(reasonToWait(notReady("server_version")), undefined);
  t.is(reasonToWait(notReady("migrations_unknown")), undefined);
  t.is(reasonToWait(notReady("prepared_statements")), undefined);
  t.is(reasonToWait(new DatabaseNotReadyError("target_session_attrs=standby")), undefined);
  t.is(reasonToWait(new TypeError("x is not a function")), undefined);
});
