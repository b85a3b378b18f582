import { setTimeout as delay } from "node:timers/promises";
import { parseCronItems, run as runQueue } from "graphile-worker";
import type { ParsedCronItem, Runner, TaskList } from "graphile-worker";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { crontab as wholeCrontab } from "../../jobs/crontab.ts";
import { withRetries } from "../database/failures.ts";
import { nextDue } from "../database/jobs.ts";
import { checkDatabase } from "../database/migrations.ts";
import { makePool } from "../database/pools.ts";
import { checkPreparedStatements } from "../database/prepared_statements.ts";
import { startClock } from "./clock.ts";
import { makeCrew } from "./crew.ts";
import type { Crew } from "./crew.ts";
import { untilDatabaseGone } from "./database_gone.ts";
import type { DueKind, Job, When } from "./job.ts";
import { checkQueue, queueLogger } from "./queue.ts";

export interface WorkerOptions {
  /** A login that is or may become exchange_worker. */
  connectionString: string;
  logger: Logger;
  /** Told after each piece of work that was committed. */
  onWorked?: () => void;
  /** Other jobs than those of the project, for tests. */
  crontab?: { job: Job; when: When }[];
}

/** Does what time brings about, until it is closed. */
export interface Worker {
  /** Finishes the pieces under way and leaves the database, at once if that is gone. */
  close: () => Promise<void>;
}

/** Each kind of job runs once at a time in a process, so this is room for all that may coincide. */
const JOBS_AT_ONCE = 6;
/** Those, the releases' lanes, the clock, and the queue: listening, fetching, putting back. */
const POOL_SIZE = 18;
const LOCK_TIMEOUT_MS = 2000;
/** A new connection has the engine's plans to make before it releases its first order. */
const IDLE_TIMEOUT_MS = 600_000;
/** When a notification is lost, jobs are found this late. */
const POLL_MS = 1000;
/** How long to wait before a queue that gave up is opened again. */
const REOPEN_MS = 1000;

/** Checks that the database is fit, and does what time brings about on it. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { logger } = options;
  const pool = makePool({
    connectionString: options.connectionString,
    role: "exchange_worker",
    applicationName: "pgmarkets worker",
    max: POOL_SIZE,
    connectionTimeoutMs: 5000,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    onIdleError: (error) => {
      logger.warn({ error }, "an idle database connection was lost");
    },
  });
  try {
    await checkDatabase(pool);
    await checkQueue(pool);
    await checkPreparedStatements(pool);
    return await work(pool, options);
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** Works on the database of a pool that acts as exchange_worker. */
export async function work(
  pool: Pool,
  options: Omit<WorkerOptions, "connectionString">,
): Promise<Worker> {
  const { logger, crontab = wholeCrontab } = options;
  const crew = makeCrew({ pool, logger, onWorked: options.onWorked });
  const queue = await openQueue(pool, logger, crontab, crew);

  const dueJobs = new Map<DueKind, Job>();
  for (const { job, when } of crontab) if ("due" in when) dueJobs.set(when.due, job);
  const clock = startClock({
    nextDue: () => withRetries(pool, nextDue, { attempts: 1 }),
    ring: async (kind) => {
      const job = dueJobs.get(kind);
      if (job === undefined || !crew.isWanted(job)) return;
      crew.rung(job);
      await queue.ring(job);
    },
    kinds: [...dueJobs.keys()],
    logger,
  });

  async function closeInOrder(): Promise<void> {
    await clock.close();
    await queue.close();
    await pool.end();
  }

  return {
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

async function openQueue(
  pool: Pool,
  logger: Logger,
  crontab: { job: Job; when: When }[],
  crew: Crew,
): Promise<Queue> {
  const taskList: TaskList = {};
  for (const { job } of crontab) taskList[job.name] = () => crew.run(job);
  const open = (): Promise<Runner> =>
    runQueue({
      pgPool: pool,
      taskList,
      parsedCronItems: cronItemsOf(crontab),
      concurrency: JOBS_AT_ONCE,
      pollInterval: POLL_MS,
      noHandleSignals: true,
      logger: queueLogger(logger),
    });

  let closing = false;
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

function cronItemsOf(crontab: { job: Job; when: When }[]): ParsedCronItem[] {
  return parseCronItems(
    crontab.flatMap(({ job: { name }, when }) =>
      "cron" in when
        ? [{ task: name, match: when.cron, identifier: name, options: { jobKey: name } }]
        : [],
    ),
  );
}
