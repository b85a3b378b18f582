import { pino } from "pino";
import { crontab } from "../../jobs/crontab.ts";
import { makePool } from "../../src/database/pools.ts";
import { work } from "../../src/worker/start_worker.ts";

/** A worker in a process of its own, on a database of the tests, to be killed. */

const pool = makePool({
  connectionString: process.env.WORKER_DATABASE_URL ?? "",
  role: "exchange_worker",
});
await work(pool, { logger: pino({ level: "silent" }), crontab });
