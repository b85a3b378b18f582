import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Pool } from "pg";
import { singleFlight } from "./single_flight.ts";
import { callsOn } from "./database/call.ts";
import { api } from "./database/calls.ts";
import type { DatabaseMetrics, Outcome } from "./database/calls.ts";
import { observeFailures } from "./database/failures.ts";
import { listPools } from "./database/server_pools.ts";
import type { ServerPools } from "./database/server_pools.ts";
import { version } from "./version.ts";

/**
 * What is counted in a process, and what the database says of itself when asked. No label ever has
 * a user, an order or a key in it: labels are few, and everybody who monitors may see them.
 */
export interface Metrics {
  /** Parts with figures of their own add them here. */
  registry: Registry;
  /** One call of the database that carried out orders of a market. */
  countBatch: (outcomes: Outcome[]) => void;
  /** One request that was answered. */
  countRequest: (request: AnsweredRequest) => void;
  /** Everything, in the text format of Prometheus. */
  render: () => Promise<string>;
}

/** What there is to count about a request. */
export interface AnsweredRequest {
  method: string;
  /** The route's pattern, never the path. */
  route: string;
  status: number;
  seconds: number;
  /** Why it was refused, if it was. */
  code: string | undefined;
}

/** Scrapes by several monitors at once ask the database once. */
const DATABASE_FIGURES_FOR_MS = 1000;

const LATENCY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];
const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100, 200];

/** The figures of one process that serves the database of these pools. */
export function createMetrics(pools: ServerPools): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const orders = new Counter({
    name: "pgmarkets_orders_total",
    help: "Orders that this process sent to the database, by what became of them",
    labelNames: ["outcome"],
    registers,
  });
  const batches = new Histogram({
    name: "pgmarkets_order_batch_size",
    help: "Orders that went into one transaction",
    buckets: BATCH_SIZES,
    registers,
  });
  const refusals = new Counter({
    name: "pgmarkets_refusals_total",
    help: "Requests that were refused, by the code of the refusal",
    labelNames: ["code"],
    registers,
  });
  const requests = new Histogram({
    name: "pgmarkets_http_request_duration_seconds",
    help: "Time from a request's headers to the end of its answer",
    labelNames: ["method", "route", "status"],
    buckets: LATENCY_SECONDS,
    registers,
  });
  countFailures(pools, registry);
  gaugePools(pools, registry);
  const readDatabase = gaugeDatabase(pools.monitoring, registry);
  for (const outcome of ["placed", "replayed", "refused"]) orders.inc({ outcome }, 0);
  new Gauge({
    name: "pgmarkets_info",
    help: "Always 1; the version of this process and of its Node",
    labelNames: ["version", "node"],
    registers,
  }).set({ version, node: process.versions.node }, 1);

  return {
    registry,
    countBatch: (outcomes) => {
      batches.observe(outcomes.length);
      for (const { code, replayed } of outcomes) {
        orders.inc({ outcome: code !== null ? "refused" : replayed ? "replayed" : "placed" });
      }
    },
    countRequest: ({ method, route, status, seconds, code }) => {
      requests.observe({ method, route, status }, seconds);
      if (code !== undefined) refusals.inc({ code });
    },
    render: async () => {
      await readDatabase();
      return await registry.metrics();
    },
  };
}

function countFailures(pools: ServerPools, registry: Registry): void {
  const failures = new Counter({
    name: "pgmarkets_database_failures_total",
    help: "Calls that the database gave no answer to, by kind and SQLSTATE, each attempt counted",
    labelNames: ["kind", "sqlstate"],
    registers: [registry],
  });
  const retries = new Counter({
    name: "pgmarkets_database_retries_total",
    help: "Calls that were made again after a failure",
    registers: [registry],
  });
  for (const [, pool] of listPools(pools)) {
    observeFailures(pool, (failure, retried) => {
      failures.inc({ kind: failure.kind, sqlstate: failure.sqlstate ?? "none" });
      if (retried) retries.inc();
    });
  }
}

function gaugePools(pools: ServerPools, registry: Registry): void {
  new Gauge({
    name: "pgmarkets_pool_connections",
    help: "Connections of this process to the database, and calls that wait for one",
    labelNames: ["pool", "state"],
    registers: [registry],
    collect() {
      for (const [name, pool] of listPools(pools)) {
        this.set({ pool: name, state: "idle" }, pool.idleCount);
        this.set({ pool: name, state: "busy" }, pool.totalCount - pool.idleCount);
        this.set({ pool: name, state: "waiting" }, pool.waitingCount);
      }
    },
  });
}

/** Each figure of the database that is a number: its name here and what it is. */
const databaseFigures: {
  column: keyof DatabaseMetrics;
  name: string;
  help: string;
  counts?: boolean;
}[] = [
  {
    column: "tradingPaused",
    name: "pgmarkets_trading_paused",
    help: "1 while trading is paused site-wide",
  },
  {
    column: "trades",
    name: "pgmarkets_trades_total",
    help: "Trades of the whole exchange, by the numbers given to them",
    counts: true,
  },
  {
    column: "pendingAnnouncements",
    name: "pgmarkets_pending_announcements",
    help: "Announcements written and not yet sent, up to 10000",
  },
  {
    column: "releaseLatenessSeconds",
    name: "pgmarkets_release_lateness_seconds",
    help: "How late the oldest scheduled order is that should have been released, 0 if none is due",
  },
  {
    column: "expiryLatenessSeconds",
    name: "pgmarkets_expiry_lateness_seconds",
    help: "How late the oldest open order is that should have been expired, 0 if none is due",
  },
  {
    column: "waitingJobs",
    name: "pgmarkets_waiting_jobs",
    help: "Jobs of the worker that are due and not begun, up to 10000; absent without a queue",
  },
  {
    column: "oldestJobLatenessSeconds",
    name: "pgmarkets_oldest_job_lateness_seconds",
    help: "How late the oldest of them is",
  },
  {
    column: "verificationAgeSeconds",
    name: "pgmarkets_ledger_verification_age_seconds",
    help: "Time since the last scheduled verification of the ledger ended; absent before the first",
  },
  {
    column: "brokenInvariants",
    name: "pgmarkets_ledger_broken_invariants",
    help: "What the last scheduled verification of the ledger found; absent before the first",
  },
  {
    column: "notificationQueueUsage",
    name: "pgmarkets_notification_queue_usage_ratio",
    help: "How much of PostgreSQL's queue of notifications is in use, 0 to 1",
  },
  {
    column: "waitingLocks",
    name: "pgmarkets_waiting_locks",
    help: "Locks that sessions of the server wait for",
  },
  {
    column: "longestLockWaitSeconds",
    name: "pgmarkets_longest_lock_wait_seconds",
    help: "How long the longest of these waits has lasted",
  },
  {
    column: "connections",
    name: "pgmarkets_database_connections",
    help: "Sessions in this database, whoever they belong to",
  },
  {
    column: "maxConnections",
    name: "pgmarkets_database_max_connections",
    help: "Sessions that the server admits",
  },
  {
    column: "deadlocks",
    name: "pgmarkets_database_deadlocks_total",
    help: "Deadlocks that PostgreSQL resolved in this database",
    counts: true,
  },
  {
    column: "transactionIdAge",
    name: "pgmarkets_database_transaction_id_age",
    help: "Transactions since the oldest one that is not frozen; PostgreSQL stops near 2 billion",
  },
];

/** Gives the function that brings them up to date; without a database they are absent. */
function gaugeDatabase(pool: Pool, registry: Registry): () => Promise<void> {
  const registers = [registry];
  const up = new Gauge({
    name: "pgmarkets_database_up",
    help: "1 if the database answered when these figures were asked for",
    registers,
  });
  const versions = new Gauge({
    name: "pgmarkets_database_info",
    help: "Always 1; the versions of the database server and of the schema, by its last migration",
    labelNames: ["server_version", "schema_version"],
    registers,
  });
  const figures = databaseFigures.map(({ column, name, help, counts }) => ({
    column,
    metric: new (counts === true ? Counter : Gauge)({ name, help, registers }),
  }));
  const { getMetrics } = callsOn(pool, api);

  async function read(): Promise<void> {
    // A failure is logged by the requests that fail for it.
    const row = await getMetrics({}, { attempts: 1 }).catch(() => undefined);
    up.set(row === undefined ? 0 : 1);
    versions.reset();
    if (row) {
      const { serverVersion, schemaVersion } = row;
      versions.set({ server_version: serverVersion, schema_version: schemaVersion ?? "none" }, 1);
    }
    for (const { column, metric } of figures) {
      const value = row?.[column] ?? undefined;
      metric.reset();
      if (value === undefined) metric.remove();
      else metric.inc(Number(value));
    }
  }

  return singleFlight(read, DATABASE_FIGURES_FOR_MS);
}
