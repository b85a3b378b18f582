import { setTimeout as delay } from "node:timers/promises";
import { parseCronItems, run as runQueue } from "graphile-worker";
import type { ParsedCronItem, Runner, TaskList } from "graphile-worker";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { call } from "../database/call.ts";
import { jobs } from "../database/calls.ts";
import { checkDatabase } from "../database/migrations.ts";
import { makePool, openMinimum } from "../database/pools.ts";
import { checkPreparedStatements } from "../database/prepared_statements.ts";
import { warnOfPrivileges } from "../database/privileges.ts";
import { CHECKS_MS, OPENING_MS, startInSteps } from "../database/start_steps.ts";
import { startClock } from "./clock.ts";
import { makeCrew } from "./job_runner.ts";
import type { Crew } from "./job_runner.ts";
import { untilDatabaseGone } from "./database_gone.ts";
import { makeWorkerHealth } from "./health.ts";
import type { WorkerHealth } from "./health.ts";
import type { DueKind, Job } from "./job.ts";
import { ignoreForeignNotifications } from "./own_notifications.ts";
import { checkQueue, queueLogger } from "../database/job_queue.ts";

export interface WorkerOptions {
  /** A login that is or may become exchange_worker. */
  connectionString: string;
  logger: Logger;
  /** Told after each piece of work that was committed. */
  onWorked?: () => void;
  /** The jobs to run: each database has those of `jobs/crontab.ts`. */
  crontab: Job[];
  /** Aborted when there is no use in starting any more. */
  signal?: AbortSignal;
}

/** Does what time brings about, until it is closed. */
export interface Worker {
  /** Finishes the pieces under way and leaves the database, at once if that is gone. */
  close: () => Promise<void>;
  health: WorkerHealth;
}

/** Each kind of job runs once at a time in a process, so this is room for all that may coincide. */
const JOBS_AT_ONCE = 6;
/** The lanes of what is due, other jobs, the clock, and the queue: listening, fetching, putting back. */
const POOL_SIZE = 24;
const LOCK_TIMEOUT_MS = 2000;
/** As many as the lanes of releases, and those that see what is due. They are open and warm. */
const KEPT_CONNECTIONS = 10;
const IDLE_TIMEOUT_MS = 600_000;
/** When a notification is lost, jobs are found this late. */
const POLL_MS = 1000;
/** How long to wait before a queue that gave up is opened again. */
const REOPEN_MS = 1000;

/** The connections of a worker: none is open yet. So many are kept open and warm. */
export function makeWorkerPool(
  { connectionString, logger }: Pick<WorkerOptions, "connectionString" | "logger">,
  kept = KEPT_CONNECTIONS,
): Pool {
  const pool = makePool({
    connectionString,
    role: "exchange_worker",
    applicationName: "pgmarkets worker",
    max: POOL_SIZE,
    min: kept,
    warmUp: (client) => call(client, jobs.warmUp, {}),
    connectionTimeoutMs: 5000,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    onIdleError: (error) => {
      logger.warn({ error }, "an idle database connection was lost");
    },
  });
  ignoreForeignNotifications(pool);
  return pool;
}

/** Checks that the database is fit, and does what time brings about on it. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const pool = makeWorkerPool(options);
  return await startInSteps([pool], options.signal, async (step) => {
    await step("checking the database", CHECKS_MS, async (signal) => {
      await checkDatabase(pool);
      await checkQueue(pool);
      await checkPreparedStatements(pool, signal);
      await warnOfPrivileges(pool, (message) => {
        options.logger.warn(message);
      });
    });
    await step("opening connections", OPENING_MS, () => openMinimum(pool));
    return await work(pool, options);
  });
}

/** Works on the database of a pool that acts as exchange_worker. */
export async function work(
  pool: Pool,
  options: Omit<WorkerOptions, "connectionString">,
): Promise<Worker> {
  const { logger, crontab } = options;
  ignoreForeignNotifications(pool);
  const health = makeWorkerHealth(logger);
  const crew = makeCrew({ pool, logger, health, onWorked: options.onWorked });
  const queue = await openQueue(pool, { logger, health, crontab, crew });

  const dueJobs = new Map<DueKind, Job>();
  for (const job of crontab) if ("due" in job) dueJobs.set(job.due, job);
  const clock = startClock({
    nextDue: crew.nextDue,
    ring: async (kind) => {
      const job = dueJobs.get(kind);
      if (job === undefined || !crew.isWanted(job)) return;
      crew.rung(job);
      await queue.ring(job);
    },
    kinds: [...dueJobs.keys()],
    health,
  });

  async function closeInOrder(): Promise<void> {
    await clock.close();
    await queue.close();
    await pool.end();
  }

  return {
    health,
    close: async () => {
      crew.end();
      const closed = new AbortController();
      const isGone = untilDatabaseGone(pool, closed.signal).then(
        () => true,
        () => false,
      );
      const inOrder = closeInOrder().finally(() => {
        closed.abort();
      });
      if (!(await Promise.race([inOrder.then(() => false), isGone]))) return;
      // What was under way is lost to this worker already: others find it in the tables.
      inOrder.catch(() => undefined);
      logger.warn("the database is gone: ending without it");
    },
  };
}

interface Queue {
  /** Has some worker run the job at once. A job that a lost worker holds does not stand in the way. */
  ring: (job: Job) => Promise<void>;
  close: () => Promise<void>;
}

interface QueueOptions {
  logger: Logger;
  health: WorkerHealth;
  crontab: Job[];
  crew: Crew;
}

async function openQueue(
  pool: Pool,
  { logger, health, crontab, crew }: QueueOptions,
): Promise<Queue> {
  const taskList: TaskList = {};
  for (const job of crontab) taskList[job.name] = () => crew.run(job);
  let closing = false;
  const open = async (): Promise<Runner> => {
    const opened = await runQueue({
      pgPool: pool,
      taskList,
      parsedCronItems: cronItemsOf(crontab),
      concurrency: JOBS_AT_ONCE,
      pollInterval: POLL_MS,
      noHandleSignals: true,
      logger: queueLogger(logger),
    });
    opened.events.on("worker:getJob:error", ({ error }) => {
      if (!closing) health.failed("taking jobs from the queue", error);
    });
    opened.events.on("worker:getJob:empty", () => {
      health.succeeded("taking jobs from the queue");
    });
    opened.events.on("job:start", () => {
      health.succeeded("taking jobs from the queue");
    });
    return opened;
  };

  let runner = await open();

  /** The queue outlives a lost database by itself; this is for whatever else may end it. */
  async function keepOpen(): Promise<void> {
    for (;;) {
      await runner.promise.catch((error: unknown) => {
        logger.error({ error }, "the queue of jobs ended");
      });
      if (closing) return;
      await delay(REOPEN_MS);
      runner = await open().catch((error: unknown) => {
        logger.error({ error }, "the queue of jobs can't be opened");
        return runner;
      });
      await stopIfClosing();
    }
  }

  async function stopIfClosing(): Promise<void> {
    if (closing) await stop();
  }

  async function stop(): Promise<void> {
    await runner.stop().catch((error: unknown) => {
      logger.warn({ error }, "the queue of jobs did not end in order");
    });
  }

  const kept = keepOpen();
  return {
    ring: async (job) => {
      await runner.addJob(job.name, {}, { jobKey: job.name });
    },
    close: async () => {
      closing = true;
      await stop();
      await kept;
    },
  };
}

function cronItemsOf(crontab: Job[]): ParsedCronItem[] {
  return parseCronItems(
    crontab.flatMap((job) => {
      const { name } = job;
      return "cron" in job
        ? [{ task: name, match: job.cron, identifier: name, options: { jobKey: name } }]
        : [];
    }),
  );
}
