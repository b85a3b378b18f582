import { Counter, Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Pool } from "pg";
import { clockOffsetMs } from "../clock_offset.ts";
import { gaugeClockOffset } from "../process_metrics.ts";
import { callsOn } from "./call.ts";
import { api } from "./calls.ts";
import type {
  ArchiveMetrics,
  DatabaseMetrics,
  HistoryMetrics,
  MailMetrics,
  WorkerMetrics,
} from "./calls.ts";
import { observeFailures } from "./failures.ts";
import { listPools } from "./server_pools.ts";
import type { ServerPools } from "./server_pools.ts";

/**
 * Measures the calls and the connections of these pools. The figures that the database has itself
 * are read by the function that is returned.
 */
export function measureDatabase(pools: ServerPools, registry: Registry): () => Promise<void> {
  countFailures(pools, registry);
  gaugePools(pools, registry);
  return gaugeDatabase(pools.monitoring, registry);
}

function countFailures(pools: ServerPools, registry: Registry): void {
  const failures = new Counter({
    name: "pgmarkets_database_failures_total",
    help: "Attempts of calls that the database did not answer, by kind and SQLSTATE",
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
        this.set({ pool: name, state: "waiting" }, waitingCalls(pool));
      }
    },
  });
}

/** The calls that no connection is free for. To `pg` one waits until the next tick in any case. */
export function waitingCalls({ waitingCount, idleCount, totalCount, options }: Pool): number {
  return Math.max(0, waitingCount - idleCount - (options.max - totalCount));
}

type Figures = DatabaseMetrics &
  HistoryMetrics &
  MailMetrics &
  ArchiveMetrics &
  Pick<WorkerMetrics, "heartbeatAgeSeconds">;

/** Their columns that are numbers, or 0 and 1. */
const databaseFigures: {
  column: keyof Figures;
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
    help: "Trades of the whole exchange",
    counts: true,
  },
  {
    column: "pendingAnnouncements",
    name: "pgmarkets_outbox_events",
    help: "Events in the outbox that are not sent yet, up to 10000",
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
    column: "heartbeatAgeSeconds",
    name: "pgmarkets_worker_heartbeat_age_seconds",
    help: "Time since a worker last said that it works; absent before the first worker",
  },
  {
    column: "waitingMails",
    name: "pgmarkets_waiting_mails",
    help: "Mails that are not sent yet, up to 10000",
  },
  {
    column: "oldestMailAgeSeconds",
    name: "pgmarkets_oldest_mail_age_seconds",
    help: "How long ago the oldest of them was written, 0 if there is none",
  },
  {
    column: "failedMails",
    name: "pgmarkets_failed_mails",
    help: "Mails of the last 30 days that were given up after ten attempts, up to 10000",
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
    column: "sealedBlock",
    name: "pgmarkets_sealed_block",
    help: "Number of the last block of sealed history; absent before the first",
  },
  {
    column: "oldestUnsealedAgeSeconds",
    name: "pgmarkets_oldest_unsealed_row_age_seconds",
    help: "How long ago the oldest row of history was written that is not sealed, 0 if all are",
  },
  {
    column: "unverifiedBlocks",
    name: "pgmarkets_unverified_blocks",
    help: "Blocks of sealed history that no sound scheduled verification has recomputed",
  },
  {
    column: "oldestUnverifiedAgeSeconds",
    name: "pgmarkets_oldest_unverified_block_age_seconds",
    help: "How long ago the oldest of them was sealed, 0 if there is none",
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
    help: "Sessions in this database, of all logins",
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
  {
    column: "archiveFails",
    name: "pgmarkets_archive_failing",
    help: "1 while the archive does not take the WAL",
  },
];

/** Returns the function that updates the figures. Without a database they are absent. */
function gaugeDatabase(pool: Pool, registry: Registry): () => Promise<void> {
  const registers = [registry];
  const up = new Gauge({
    name: "pgmarkets_database_up",
    help: "1 if the database answered when these figures were read",
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
  const { getMetrics, getHistoryMetrics, getMailMetrics, getWorkerMetrics, getArchiveMetrics } =
    callsOn(pool, api);
  let offsetMs: number | undefined;
  gaugeClockOffset(registry, () => offsetMs);

  async function readWorkerMetrics(): Promise<WorkerMetrics> {
    const before = Date.now();
    const metrics = await getWorkerMetrics({}, { attempts: 1 });
    offsetMs = clockOffsetMs(before, metrics.atMs, Date.now());
    return metrics;
  }

  return async () => {
    // Requests that fail log the failure.
    const row = await getMetrics({}, { attempts: 1 }).catch(() => undefined);
    const mails = row && (await getMailMetrics({}, { attempts: 1 }).catch(() => undefined));
    const history = row && (await getHistoryMetrics({}, { attempts: 1 }).catch(() => undefined));
    const archive = row && (await getArchiveMetrics({}, { attempts: 1 }).catch(() => undefined));
    const workers = row && (await readWorkerMetrics().catch(() => undefined));
    const values: Partial<Figures> = { ...row, ...history, ...mails, ...archive, ...workers };
    up.set(row === undefined ? 0 : 1);
    versions.reset();
    if (row) {
      const { serverVersion, schemaVersion } = row;
      versions.set({ server_version: serverVersion, schema_version: schemaVersion ?? "none" }, 1);
    }
    for (const { column, metric } of figures) {
      const value = values[column] ?? undefined;
      metric.reset();
      if (value === undefined) metric.remove();
      else metric.inc(Number(value));
    }
  };
}
