import test from "ava";
import { pino } from "pino";
import { makeWorkerHealth } from "../../src/worker/health.ts";
import { makeJobRunner } from "../../src/worker/job_runner.ts";
import { openQueue } from "../../src/worker/queue.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { makeQueue, startTestWorker } from "../helpers/exchange/test_worker.ts";
import { passTime } from "../helpers/pass_time.ts";
import { until } from "../helpers/until.ts";

/** Workers and the time of the database, whose clock the tests move. */

const exchange = testExchange(test, { sessions: 3 });
const { clock } = exchange;
const MINUTE = 60_000;

test.before("have a queue", async () => {
  await makeQueue(exchange.database);
});

const scalar = async (query: string) =>
  Object.values((await exchange.database.pool.query(query)).rows[0] ?? {})[0] as any;

for (const [title, ahead] of [
  ["behind", 90_000],
  ["ahead", -90_000],
  ["an hour ahead", -3_600_000],
] as const) {
  test.serial(`jobs of each minute run in a worker whose clock is ${title}`, async (t) => {
    await clock.release();
    await clock.advance(ahead);
    const ran: number[] = [];
    const worker = await startTestWorker(exchange.database, {
      crontab: [
        {
          name: "time__tell",
          cron: "* * * * *",
          run: async () => void ran.push(performance.now()),
        },
      ],
    });
    try {
      await until("its clock is found to be off", async () => worker.health.failing().length > 0);
      t.deepEqual(worker.health.failing(), ["keeping the time of the database"]);
      t.true(Math.abs(worker.health.clockOffsetMs()! + ahead) < 5000);
      for (let minutes = 1; minutes <= 3; minutes++) {
        await clock.advance(MINUTE);
        await until(`it has run ${minutes} times`, async () => ran.length >= minutes);
      }
      await clock.release();
      await until("its clock is right", async () => worker.health.failing().length === 0);
      t.true(Math.abs(worker.health.clockOffsetMs()!) < 5000);
    } finally {
      await worker.close();
    }
  });
}

test.serial("of several workers, one requests the job of a minute", async (t) => {
  await clock.freeze("2030-01-01T12:00:30Z");
  let ran = 0;
  const start = () =>
    startTestWorker(exchange.database, {
      crontab: [
        {
          // A name of its own: the workers above may have left a request in the queue.
          name: "minute__tell",
          cron: "* * * * *",
          run: async () => {
            ran++;
          },
        },
      ],
    });
  const workers = [await start(), await start(), await start()];
  // What passed before a worker first read the time is not its own.
  await until("each has read the time", async () =>
    workers.every(({ health }) => health.clockOffsetMs() !== undefined),
  );
  try {
    for (let minutes = 1; minutes <= 5; minutes++) {
      await clock.advance(MINUTE);
      const told = `select ticked_at = date_trunc('minute', core.now()) from core.job_ticks
        where job = 'minute__tell'`;
      await until("a worker has requested it", async () => (await scalar(told)) === true);
      await until("it has run", async () => ran >= minutes);
    }
    t.is(ran, 5);
  } finally {
    await Promise.all(workers.map((worker) => worker.close()));
  }
});

test.serial("a tick is claimed once, and anew after the clock was set back", async (t) => {
  const claim = async (at: string) => {
    const { rows } = await exchange.database.pool.query(
      "select jobs.claim_tick(job => 'other__job', tick_at => $1) as is_ours",
      [at],
    );
    return rows[0].is_ours;
  };
  await clock.freeze("2030-01-01T12:00:00Z");
  const together = await Promise.all(
    Array.from({ length: 8 }, () => claim("2030-01-01T12:00:00Z")),
  );
  t.deepEqual(together.sort(), [...Array(7).fill(false), true]);
  t.false(await claim("2030-01-01T11:59:00Z"));
  t.true(await claim("2030-01-01T12:01:00Z"));
  await clock.freeze("2030-01-01T09:00:00Z");
  t.true(await claim("2030-01-01T09:00:00Z"));
  t.false(await claim("2030-01-01T09:00:00Z"));
});

test.serial("what was missed while no worker worked is made up once", async (t) => {
  let ran = 0;
  const crontab = [
    {
      name: "night__tell",
      cron: "23 0 * * *",
      run: async () => {
        ran += 1;
      },
    },
    { name: "sign__tell", cron: "* * * * *", run: () => Promise.resolve() },
  ];
  /** Starts so many workers, and ends them after the next minute, whose job is the last to come. */
  const workUntil = async (count: number, nextMinute: string) => {
    const start = () => startTestWorker(exchange.database, { crontab });
    const workers = await Promise.all(Array.from({ length: count }, start));
    try {
      await until("each has read the time", async () =>
        workers.every(({ health }) => health.clockOffsetMs() !== undefined),
      );
      await clock.freeze(nextMinute);
      const told = `select ticked_at from core.job_ticks where job = 'sign__tell'`;
      await until("the minute is requested", async () => {
        return (await scalar(told))?.toISOString() === new Date(nextMinute).toISOString();
      });
      const left = `select count(*)::int from graphile_worker.jobs
        where task_identifier in ('night__tell', 'sign__tell')`;
      await until("all has run", async () => (await scalar(left)) === 0);
    } finally {
      await Promise.all(workers.map((worker) => worker.close()));
    }
  };
  await clock.freeze("2030-03-01T00:22:10Z");
  await workUntil(1, "2030-03-01T00:23:00Z");
  t.is(ran, 1, "in time");
  await clock.freeze("2030-03-01T12:00:10Z");
  await workUntil(2, "2030-03-01T12:01:00Z");
  t.is(ran, 1, "nothing was missed");
  await clock.freeze("2030-03-05T12:00:10Z");
  await workUntil(2, "2030-03-05T12:01:00Z");
  t.is(ran, 2, "after four days");
  await clock.freeze("2030-03-05T12:30:10Z");
  await workUntil(2, "2030-03-05T12:31:00Z");
  t.is(ran, 2, "it was made up");
});

test.serial("a worker says that it works, and its last beat ages", async (t) => {
  const age = async () =>
    await scalar("select heartbeat_age_seconds from api.get_worker_metrics()");
  await clock.freeze("2031-01-01T12:00:00Z");
  await exchange.database.pool.query("update core.worker_heartbeat set beat_at = null");
  t.is(await age(), null);
  const worker = await startTestWorker(exchange.database, { crontab: [] });
  await until("it has said so", async () => (await age()) === 0);
  await worker.close();
  await clock.advance(70_000);
  t.is(await age(), 70);
});

test.serial("a job that waits keeps the time from which it waits", async (t) => {
  await clock.release();
  const pool = exchange.database.connectAs("exchange_worker");
  const logger = pino({ level: "silent" });
  const health = makeWorkerHealth(logger);
  const jobRunner = makeJobRunner({ pool, logger, health });
  // It takes no jobs, like a worker of another version.
  const queue = await openQueue(pool, { logger, health, crontab: [], jobRunner });
  const waiting = {
    name: "other__wait",
    cron: "* * * * *",
    run: () => Promise.resolve(),
  };
  await queue.request(waiting);
  await exchange.database.pool.query(
    "update graphile_worker._private_jobs set run_at = run_at - interval '10 minutes'",
  );
  await queue.request(waiting);
  t.true(Number(await scalar("select oldest_job_lateness_seconds from api.get_metrics()")) >= 600);
  await queue.close();
});

test.serial(
  "a job from before the clock was set back runs, and one that failed waits",
  async (t) => {
    await clock.release();
    const { pool } = exchange.database;
    const worker = await startTestWorker(exchange.database, { crontab: [] });
    await pool.query("delete from graphile_worker._private_jobs");
    for (const key of ["once__early", "once__failed"]) {
      await pool.query(
        "select graphile_worker.add_job($1, job_key => $1, run_at => now() + interval '1 hour')",
        [key],
      );
    }
    await pool.query(
      "update graphile_worker._private_jobs set attempts = 1 where key = 'once__failed'",
    );
    const due =
      "select string_agg(key, ' ') from graphile_worker._private_jobs where run_at <= now()";
    passTime(60_000);
    await until("the queue is tidied", async () => (await scalar(due)) !== null);
    t.is(await scalar(due), "once__early");
    await worker.close();
  },
);
