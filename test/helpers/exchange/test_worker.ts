import pg from "pg";
import { pino } from "pino";
import { crontab } from "../../../jobs/crontab.ts";
import { describeError } from "../../../src/bin/logger.ts";
import { migrateQueue } from "../../../src/database/job_queue.ts";
import { work } from "../../../src/worker/start_worker.ts";
import type { Worker, WorkerOptions } from "../../../src/worker/start_worker.ts";
import type { OwnDatabase } from "../database/test_database.ts";

/** The template of the tests has no queue: makes it, once for a database. */
export async function makeQueue({
  connectionString,
}: Pick<OwnDatabase, "connectionString">): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await migrateQueue(client, connectionString);
  } finally {
    await client.end();
  }
}

export interface TestWorker extends Worker {
  /** The lines of the log, but for those about its clock and about sealed history. */
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
    {
      write: (line: string) => {
        // Tests move the clock of the database, and a worker seals every few seconds.
        if (!/keeping the time of the database|history is sealed/.test(line)) log.push(line);
      },
    },
  );
  // As many connections as a worker has: the queue fails when it finds none for seconds.
  const pool = connectAs("exchange_worker", { max: 24 });
  const worker = await work(pool, { logger, crontab, ...options });
  return { ...worker, log };
}
