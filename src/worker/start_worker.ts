import type { Pool } from "pg";
import type { Logger } from "pino";
import { call, callsOn } from "../database/call.ts";
import { jobs } from "../database/job_calls.ts";
import { checkQueue } from "../database/job_queue.ts";
import { NOTE_PROCESS_MS, notedProcess } from "../database/noted_process.ts";
import { makePool, openMinimum } from "../database/pools.ts";
import { checkPreparedStatements } from "../database/prepared_statements.ts";
import { warnOfPrivileges } from "../database/privileges.ts";
import { checkDatabase, checkSequences } from "../database/readiness.ts";
import { checkWritable } from "../database/server_checks.ts";
import { CHECKS_MS, OPENING_MS, startInSteps } from "../database/start_steps.ts";
import { startClock } from "./clock.ts";
import { untilDatabaseGone } from "./database_gone.ts";
import { makeWorkerHealth } from "./health.ts";
import type { WorkerHealth } from "./health.ts";
import type { DueKind, Job } from "./job.ts";
import { makeJobRunner } from "./job_runner.ts";
import { ignoreForeignNotifications } from "./own_notifications.ts";
import { openQueue } from "./queue.ts";
import { makeTicks } from "./ticks.ts";

export interface WorkerOptions {
  /** A login that is or may become exchange_worker. */
  connectionString: string;
  logger: Logger;
  /** Called after each piece of work that was committed. */
  onWorked?: () => void;
  /** The jobs to run. Processes give those of `jobs/crontab.ts`. */
  crontab: Job[];
  /** Aborts the start. */
  signal?: AbortSignal;
}

/** Runs the scheduled jobs until it is closed. */
export interface Worker {
  /** Finishes the pieces under way and closes the connections. Without a database, ends at once. */
  close: () => Promise<void>;
  health: WorkerHealth;
}

/** For the lanes of due work, other jobs, the clock and the queue. */
const POOL_SIZE = 24;
const LOCK_TIMEOUT_MS = 2000;
/** Open and warm: for the lanes of releases and of dead man's switches, and two for the clock. */
const KEPT_CONNECTIONS = 10;
const IDLE_TIMEOUT_MS = 600_000;
/** How often a worker says that it works. */
const BEAT_MS = 5000;
const CHECK_SEQUENCES_MS = 60_000;
const TIDY_MS = 60_000;

/**
 * The connections of a worker, not open yet. `kept` of them are kept open, and warm once the database
 * is fit: warming up draws ids, which a copy by logical replication must not.
 */
export function makeWorkerPool(
  { connectionString, logger }: Pick<WorkerOptions, "connectionString" | "logger">,
  kept = KEPT_CONNECTIONS,
  isFit = (): boolean => true,
): Pool {
  const pool = makePool({
    connectionString,
    role: "exchange_worker",
    applicationName: "pgmarkets worker",
    max: POOL_SIZE,
    min: kept,
    warmUp: async (client) => {
      if (isFit()) await call(client, jobs.warmUp, {});
    },
    connectionTimeoutMs: 5000,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    logger,
  });
  ignoreForeignNotifications(pool);
  return pool;
}

/** Checks the database, and runs its jobs. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  let isFit = false;
  const pool = makeWorkerPool(options, KEPT_CONNECTIONS, () => isFit);
  return await startInSteps([pool], options.signal, async (step) => {
    await step("checking the database", CHECKS_MS, async (signal) => {
      await checkDatabase(pool);
      await checkWritable(pool);
      await checkQueue(pool);
      await checkPreparedStatements(pool, signal);
      checkSequences(await callsOn(pool, jobs).listLaggingSequences({}));
      await warnOfPrivileges(pool, (message) => {
        options.logger.warn(message);
      });
      isFit = true;
    });
    await step("opening connections", OPENING_MS, () => openMinimum(pool));
    return await work(pool, options);
  });
}

/** Runs the jobs of a database, on a pool that acts as exchange_worker. */
export async function work(
  pool: Pool,
  options: Omit<WorkerOptions, "connectionString">,
): Promise<Worker> {
  const { logger, crontab } = options;
  ignoreForeignNotifications(pool);
  const health = makeWorkerHealth(logger);
  const jobRunner = makeJobRunner({ pool, logger, health, onWorked: options.onWorked });
  const queue = await openQueue(pool, { logger, health, crontab, jobRunner });

  const dueJobs = new Map<DueKind, Job>();
  for (const job of crontab) if ("due" in job) dueJobs.set(job.due, job);
  const calls = callsOn(pool, jobs);
  const noted = notedProcess(calls.noteProcess);
  const clock = startClock({
    nextWork: jobRunner.nextWork,
    tick: makeTicks({
      crontab,
      lastTicks: calls.lastTicks,
      claim: ({ name }, tickAt) => calls.claimTick({ job: name, tickAt: tickAt.toISOString() }),
      request: queue.request,
    }),
    chores: [
      { what: "saying that it works", everyMs: BEAT_MS, run: () => calls.beat() },
      { what: "noting which process it is", everyMs: NOTE_PROCESS_MS, run: noted.note },
      {
        what: "giving out new ids",
        everyMs: CHECK_SEQUENCES_MS,
        run: async () => {
          checkSequences(await calls.listLaggingSequences());
        },
      },
      {
        what: "tidying the queue",
        everyMs: TIDY_MS,
        run: queue.tidy,
      },
    ],
    request: async (kind) => {
      const job = dueJobs.get(kind);
      if (job === undefined || !jobRunner.isNeeded(job)) return;
      jobRunner.noteRequest(job);
      await queue.request(job);
    },
    kinds: [...dueJobs.keys()],
    health,
  });

  async function closeInOrder(): Promise<void> {
    await clock.close();
    await queue.close();
    await noted.end();
    await pool.end();
  }

  return {
    health,
    close: async () => {
      jobRunner.end();
      const closed = new AbortController();
      const isGone = untilDatabaseGone(pool, closed.signal).then(
        () => true,
        () => false,
      );
      const inOrder = closeInOrder().finally(() => {
        closed.abort();
      });
      if (!(await Promise.race([inOrder.then(() => false), isGone]))) return;
      // Other workers find in the tables what was under way.
      inOrder.catch(() => undefined);
      logger.warn("the database is gone: ending without it");
    },
  };
}
