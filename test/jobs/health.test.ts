import test from "ava";
import pg from "pg";
import { pino } from "pino";
import { asFailure, DatabaseFailure } from "../../src/database/failures.ts";
import { describeError, errorMessage } from "../../src/bin/logger.ts";
import { makeWorkerHealth } from "../../src/worker/health.ts";
import { serveHealth } from "../../src/worker/serve_health.ts";

function databaseError(code: string, message: string, hint?: string): pg.DatabaseError {
  const error = new pg.DatabaseError(message, message.length, "error");
  return Object.assign(error, { code, severity: "ERROR", hint });
}

function healthWithLog() {
  const log: any[] = [];
  const clock = { now: 0 };
  const logger = pino(
    { level: "info", base: null, serializers: { error: describeError } },
    { write: (line: string) => log.push(JSON.parse(line)) },
  );
  return { health: makeWorkerHealth(logger, () => clock.now), logger, log, clock };
}

test("42501: a worker whose jobs fail logs it at once, each minute, and at the end", (t) => {
  const { health, log, clock } = healthWithLog();
  const denied = databaseError("42501", "query would be affected by row-level security policy");
  health.failed("orders__expire", denied);
  health.failed("orders__expire", denied);
  t.is(log.length, 1);
  t.like(log[0], { level: 50, what: "orders__expire" });
  t.is(log[0].error.sqlstate, "42501");
  t.is(log[0].error.stack, undefined);
  clock.now = 60_000;
  health.failed("orders__expire", denied);
  t.is(log.length, 2);
  t.deepEqual(health.failing(), ["orders__expire"]);
  health.succeeded("orders__expire");
  t.deepEqual(health.failing(), []);
  t.like(log[2], { level: 30, what: "orders__expire", ready: true });
  health.succeeded("orders__expire");
  t.is(log.length, 3);
});

test("a database that is away is a warning", (t) => {
  const { health, log } = healthWithLog();
  health.failed("seeing what is due", new DatabaseFailure("unreachable", new Error("gone")));
  t.is(log[0].level, 40);
});

test("so is one that the job queue cannot reach, and no other error of the queue is", async (t) => {
  const { health, log } = healthWithLog();
  const connect = (host: string) =>
    t.throwsAsync(new pg.Client({ host, port: 1 }).connect(), undefined, host);
  const shutDown = databaseError("57P01", "terminating connection");
  const outages = [
    ...[await connect("127.0.0.1"), await connect("localhost")],
    new Error("Connection terminated unexpectedly"),
    Object.assign(shutDown, { severity: "FATAL" }),
  ];
  const denied = databaseError("42501", "permission denied");
  for (const error of [...outages, denied]) {
    health.failed("taking jobs from the queue", asFailure(error));
    health.succeeded("taking jobs from the queue");
  }
  t.deepEqual(
    log.filter(({ level }) => level > 30).map(({ level }) => level),
    [40, 40, 40, 40, 50],
  );
});

test("503 jobs_fail: the health check of a worker names the failing jobs", async (t) => {
  const { health, logger } = healthWithLog();
  const server = await serveHealth({ port: 0, host: "127.0.0.1", logger });
  server.handOver(health);
  try {
    const get = async (path: string) => {
      const response = await fetch(server.url + path);
      return [response.status, await response.text()] as const;
    };
    t.deepEqual(await get("/readyz"), [200, '{"status":"ok"}']);
    t.regex((await get("/metrics"))[1], /^pgmarkets_worker_ready 1$/m);
    health.failed("ledger__verify", databaseError("57014", "canceled"));
    t.deepEqual(await get("/readyz"), [
      503,
      '{"status":"unavailable","reason":"jobs_fail","failing":["ledger__verify"]}',
    ]);
    const [, figures] = await get("/metrics");
    t.regex(figures, /^pgmarkets_worker_ready 0$/m);
    t.regex(figures, /^pgmarkets_worker_failing\{what="ledger__verify"\} 1$/m);
    t.is((await get("/healthz"))[0], 200);
    t.is((await get("/orders"))[0], 404);
  } finally {
    await server.close();
  }
});

test("500: an error of the health check of a worker is logged, and the worker goes on", async (t) => {
  const { health, logger, log } = healthWithLog();
  const server = await serveHealth({ port: 0, host: "127.0.0.1", logger });
  const failing = () => {
    throw new Error("out of order");
  };
  try {
    server.handOver({ ...health, failing });
    for (const path of ["/metrics", "/readyz"]) {
      const response = await fetch(server.url + path);
      t.is(response.status, 500, path);
      t.deepEqual(await response.json(), { error: "Internal server error" });
      const requestId = response.headers.get("X-Request-Id");
      t.like(log.pop(), { level: 50, requestId, error: { message: "out of order" } });
    }
    server.handOver(health);
    t.is((await fetch(`${server.url}/readyz`)).status, 200);
  } finally {
    await server.close();
  }
});

test("404: the health check of a worker is only for GET and HEAD", async (t) => {
  const { logger } = healthWithLog();
  const server = await serveHealth({ port: 0, host: "127.0.0.1", logger });
  try {
    const status = async (method: string) => {
      const { status: number } = await fetch(`${server.url}/healthz`, { method });
      return [method, number];
    };
    t.deepEqual(await status("POST"), ["POST", 404]);
    t.deepEqual(await status("DELETE"), ["DELETE", 404]);
    t.deepEqual(await status("HEAD"), ["HEAD", 200]);
  } finally {
    await server.close();
  }
});

test("53200: one line with the hint and the SQLSTATE, and no stack", (t) => {
  const error = databaseError(
    ...(["53200", "out of shared memory"] as const),
    "You might need to increase max_locks_per_transaction.",
  );
  t.is(
    errorMessage(error),
    "out of shared memory (You might need to increase max_locks_per_transaction.) (SQLSTATE 53200)",
  );
  const described = describeError(new DatabaseFailure("conflict", error));
  t.is(described.sqlstate, "53200");
  t.is(described.stack, undefined);
  t.like(described.cause, { sqlstate: "53200", hint: error.hint, stack: undefined });
});
