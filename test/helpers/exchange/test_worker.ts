import pg from "pg";
import { pino } from "pino";
import { crontab } from "../../../jobs/crontab.ts";
import { describeError } from "../../../src/logger.ts";
import { migrateQueue } from "../../../src/database/job_queue.ts";
import { work } from "../../../src/worker/start_worker.ts";
import type { Worker, WorkerOptions } from "../../../src/worker/start_worker.ts";
import type { OwnDatabase } from "../database/test_database.ts";

/** The template of the tests has no queue: makes it, once for a database. */
export async function makeQueue({ connectionString }: OwnDatabase): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await migrateQueue(client, connectionString);
  } finally {
    await client.end();
  }
}

export interface TestWorker extends Worker {
  /** The lines of the log. */
  log: string[];
}

/** A worker in this process, on a database that has a queue. */
export async function startTestWorker(
  { connectAs }: OwnDatabase,
  options: Partial<Pick<WorkerOptions, "crontab" | "onWorked">> = {},
): Promise<TestWorker> {
  const log: string[] = [];
  const logger = pino(
    { level: "info", serializers: { error: describeError } },
    { write: (line: string) => log.push(line) },
  );
  const worker = await work(connectAs("exchange_worker"), { logger, crontab, ...options });
  return { ...worker, log };
}
