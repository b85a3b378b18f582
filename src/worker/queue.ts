import { setTimeout as delay } from "node:timers/promises";
import { Logger as QueueLogger, run as runQueue } from "graphile-worker";
import type { Runner, TaskList } from "graphile-worker";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { asFailure, withRetries } from "../database/failures.ts";
import type { WorkerHealth } from "./health.ts";
import type { Job } from "./job.ts";
import type { JobRunner } from "./job_runner.ts";

/** The job queue of the database, which all workers share. */
export interface Queue {
  /** Has some worker run the job at once, also if a lost worker still holds it. */
  request: (job: Job) => Promise<void>;
  /**
   * Removes jobs that failed after they had been requested again. A request replaces a job that runs:
   * it takes its key and its further attempts, and if the job then fails, nobody else removes it.
   * A job that was requested before the clock was set back would wait for that time again: it is due.
   */
  tidy: () => Promise<void>;
  close: () => Promise<void>;
}

export interface QueueOptions {
  logger: Logger;
  health: WorkerHealth;
  crontab: Job[];
  jobRunner: JobRunner;
}

/** Each job runs once at a time in a process, so this is room for all that may coincide. */
const JOBS_AT_ONCE = 6;
/** When a notification is lost, jobs are found this late. */
const POLL_MS = 1000;
/** How long to wait before a queue that ended is opened again. */
const REOPEN_MS = 1000;

const tidy = {
  text: `
    with replaced as (
      delete from graphile_worker._private_jobs
      where key is null and attempts >= max_attempts and locked_at is null
    )
    update graphile_worker._private_jobs set run_at = now()
    where key is not null and attempts = 0 and locked_at is null and run_at > now()`,
  query_timeout: 30_000,
};

/** Takes jobs from the queue and runs them, until it is closed. */
export async function openQueue(
  pool: Pool,
  { logger, health, crontab, jobRunner }: QueueOptions,
): Promise<Queue> {
  const taskList: TaskList = {};
  for (const job of crontab) taskList[job.name] = () => jobRunner.run(job);
  let closing = false;
  const open = async (): Promise<Runner> => {
    const opened = await runQueue({
      pgPool: pool,
      taskList,
      // Its own crontab goes by the clock of the process.
      parsedCronItems: [],
      concurrency: JOBS_AT_ONCE,
      pollInterval: POLL_MS,
      noHandleSignals: true,
      logger: queueLogger(logger),
    });
    opened.events.on("worker:getJob:error", ({ error }) => {
      if (!closing) health.failed("taking jobs from the queue", asFailure(error));
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

  /** The queue survives a lost database by itself. This is for other ends. */
  async function keepOpen(): Promise<void> {
    for (;;) {
      await runner.promise.catch((error: unknown) => {
        logger.error({ error }, "the job queue ended");
      });
      if (closing) return;
      await delay(REOPEN_MS);
      runner = await open().catch((error: unknown) => {
        logger.error({ error }, "the job queue can't be opened");
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
      logger.warn({ error }, "the job queue did not end in order");
    });
  }

  const kept = keepOpen();
  return {
    request: async (job) => {
      // A job that waits keeps its time, by which monitoring sees how long it has waited.
      const options = { jobKey: job.name, jobKeyMode: "preserve_run_at" } as const;
      await runner.addJob(job.name, {}, options);
    },
    tidy: async () => {
      await withRetries(pool, (client) => client.query(tidy), { repeatable: true });
    },
    close: async () => {
      closing = true;
      await stop();
      await kept;
    },
  };
}

/** Makes the queue's log part of ours. Its information is for debugging only. */
function queueLogger(logger: Logger): QueueLogger {
  return new QueueLogger(() => (level, message) => {
    logger[level === "error" || level === "warning" ? "warn" : "debug"](message);
  });
}
