import { randomUUID } from "node:crypto";
import test from "ava";
import { createDatabase } from "../../helpers/database/test_database.ts";
import { buy } from "../../helpers/exchange/orders.ts";
import { makeQueue } from "../../helpers/exchange/test_worker.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { until } from "../../helpers/until.ts";

/** What staff see of servers, workers, jobs and of what is late: each time by a clock that stands. */

const exchange = testExchange(test);
const { clock, look, makeMarket, makeTrader, operate, rest, work } = exchange;

async function health(item: string): Promise<Record<string, unknown>> {
  const [row] = await look(
    `select row_count as n, late_seconds as late, is_good from admin.health where item = $1`,
    [item],
  );
  return row;
}

const note = async (role: "api" | "worker", id: string, ends = false) => {
  await exchange.database
    .connectAs(`exchange_${role}`)
    .query(`select ${role === "api" ? "api" : "jobs"}.note_process($1, 'one', 7, '9.9', $2)`, [
      id,
      ends,
    ]);
};

test.serial("admin.processes: who runs, since when, and who is silent", async (t) => {
  const shown = () =>
    look(`select process_id, kind, silent_seconds, is_silent,
      first_seen_at::text as since from admin.processes order by kind`);
  const [server, worker] = [randomUUID(), randomUUID()];
  await clock.freeze("2040-01-01T10:00:00Z");
  await note("api", server);
  await note("worker", worker);
  t.deepEqual(await health("process"), { n: 0, late: null, is_good: true });
  await clock.advance(31_000);
  await note("worker", worker);
  t.deepEqual(
    (await shown()).map(({ since: _since, ...row }) => row),
    [
      { process_id: server, kind: "server", silent_seconds: 31, is_silent: true },
      { process_id: worker, kind: "worker", silent_seconds: 0, is_silent: false },
    ],
  );
  t.is((await shown())[1]!.since, (await shown())[0]!.since);
  t.deepEqual(await health("process"), { n: 1, late: null, is_good: false });
  await note("worker", worker, true);
  t.is((await shown()).length, 1);
  // A row stays for an hour after it was last heard.
  await clock.advance(3_600_000 - 31_001);
  await work("remove_counters");
  t.is((await shown()).length, 1);
  await clock.advance(1);
  await work("remove_counters");
  t.deepEqual(await shown(), []);
});

test.serial("admin.health: what is due, how many and how late", async (t) => {
  await clock.freeze("2040-02-01T10:00:00Z");
  const market = await makeMarket({ close_time: "2040-02-01T12:00:00Z" });
  const ann = await makeTrader();
  for (const minute of ["01", "02"]) {
    await rest(
      market,
      ann,
      buy("yes", 1, 10, { timeInForce: "gtc", expiresAt: `2040-02-01T10:${minute}:00Z` }),
    );
  }
  const none = { n: 0, late: 0, is_good: true };
  for (const item of ["release", "expiry", "closing", "dead_man", "job", "mail"]) {
    t.deepEqual(await health(item), none, item);
  }
  await clock.freeze("2040-02-01T10:02:00Z");
  t.deepEqual(await health("expiry"), { n: 2, late: 60, is_good: true });
  await clock.advance(1000);
  t.deepEqual(await health("expiry"), { n: 2, late: 61, is_good: false });
  await clock.freeze("2040-02-01T12:01:01Z");
  t.deepEqual(await health("closing"), { n: 1, late: 61, is_good: false });
  await operate("run_due");
  for (const item of ["expiry", "closing"]) t.deepEqual(await health(item), none, item);
});

test.serial("admin.health: workers, and the last verification", async (t) => {
  await clock.freeze("2040-03-01T10:00:00Z");
  t.deepEqual(await health("worker"), { n: null, late: null, is_good: false });
  t.deepEqual(await health("verification"), { n: null, late: null, is_good: false });
  await exchange.query("select jobs.beat()");
  await work("verify_ledger");
  await clock.advance(30_000);
  t.deepEqual(await health("worker"), { n: null, late: 30, is_good: true });
  t.deepEqual(await health("verification"), { n: 0, late: 30, is_good: true });
  await clock.advance(1000);
  t.false((await health("worker")).is_good);
  await clock.advance(93_600_000 - 31_000);
  t.true((await health("verification")).is_good);
  await clock.advance(1000);
  t.false((await health("verification")).is_good);
  await exchange.query(
    `insert into ledger.verifications (started_at, finished_at, broken_count, first_rows)
     select core.now(), core.now(), 1, '[{"name": "n"}]'`,
  );
  t.deepEqual(await health("verification"), { n: 1, late: 0, is_good: false });
  await clock.release();
});

test.serial("admin.health: blocks that no sound verification has recomputed", async (t) => {
  const { pool } = exchange.database;
  const none = { n: 0, late: 0, is_good: true };
  await clock.freeze("2040-04-01T10:00:00Z");
  await pool.query("select ledger.seal()");
  await work("verify_ledger");
  t.deepEqual(await health("unverified_block"), none);
  for (let block = 1; block <= 2; block++) {
    await clock.advance(1000);
    await makeMarket();
    await pool.query("select ledger.seal()");
  }
  t.deepEqual(await health("unverified_block"), { n: 2, late: 1, is_good: true });
  await clock.advance(180_000_000 - 1000);
  t.deepEqual(await health("unverified_block"), { n: 2, late: 180_000, is_good: true });
  await clock.advance(1000);
  // A run that finds a difference recomputes them, and proves nothing.
  await pool.query(
    `insert into ledger.verifications (
       started_at, finished_at, broken_count, first_rows, verified_block
     )
     select core.now(), core.now(), 1, '[{"name": "n"}]', max(number) from ledger.blocks`,
  );
  t.deepEqual(await health("unverified_block"), { n: 2, late: 180_001, is_good: false });
  await work("verify_ledger");
  t.deepEqual(await health("unverified_block"), none);
  await clock.release();
});

test.serial("admin.health: waits for locks, and not those of other databases", async (t) => {
  const { pool } = exchange.database;
  const api = exchange.database.connectAs("exchange_api");
  const counted = async () => {
    const { rows } = await api.query("select waiting_locks as n from api.get_metrics()");
    return [(await health("lock")).n, rows[0].n];
  };
  const other = await createDatabase();
  try {
    for (const [database, count] of [
      [other.pool, 0],
      [pool, 1],
    ] as const) {
      // The wait is for a transaction, for which PostgreSQL names no database.
      const [holder, waiter] = [await database.connect(), await database.connect()];
      await holder.query("begin; update core.settings set trading_paused = trading_paused");
      const { rows } = await waiter.query("select pg_backend_pid() as pid");
      const waiting = waiter.query("update core.settings set trading_paused = trading_paused");
      await until("the session waits", async () => {
        const waits = "select from pg_locks where pid = $1 and not granted";
        return (await pool.query(waits, [rows[0].pid])).rowCount === 1;
      });
      const found = await counted();
      await holder.query("rollback");
      await waiting;
      holder.release();
      waiter.release();
      t.deepEqual(found, [count, count]);
    }
  } finally {
    await other.drop();
  }
});

test.serial("admin.jobs: times of the crontab, and what the queue has", async (t) => {
  const { pool } = exchange.database;
  const shown = () =>
    look(`select job, last_requested_at is not null as requested, waiting_count as waiting,
      failed_count as failed, late_seconds >= 600 as is_late, last_error
      from admin.jobs order by job`);
  await pool.query("select jobs.claim_tick('candles__make', now())");
  const idle = {
    ...{ job: "candles__make", requested: true, waiting: 0, failed: 0 },
    ...{ is_late: false, last_error: null },
  };
  t.deepEqual(await shown(), [idle]);
  await makeQueue(exchange.database);
  await pool.query(
    `select graphile_worker.add_job('mail__send', '{"secret": 1}', run_at => now() + a.ago)
     from unnest('{-11 minutes,0 minutes,60 minutes}'::interval[]) as a (ago);
     update graphile_worker._private_jobs set last_error = e'It failed\\nat line 1'
     where run_at < now() - interval '1 minute';
     update graphile_worker._private_jobs set locked_at = now(), locked_by = 'one'
     where run_at between now() - interval '1 minute' and now()`,
  );
  const waiting = {
    ...{ job: "mail__send", requested: false, waiting: 1, failed: 1 },
    ...{ is_late: true, last_error: "It failed" },
  };
  t.deepEqual(await shown(), [idle, waiting]);
  t.like(await health("job"), { n: 1, is_good: false });
  t.like(await health("failed_job"), { n: 1, is_good: false });
  await pool.query(
    `delete from graphile_worker._private_jobs where last_error is null;
     update graphile_worker._private_jobs set attempts = max_attempts`,
  );
  t.deepEqual(await shown(), [idle], "it was replaced while it ran, and then failed");
  t.like(await health("failed_job"), { n: 0, is_good: true });
  await pool.query("update graphile_worker._private_jobs set key = 'mail__send'");
  t.deepEqual(await shown(), [idle, { ...waiting, waiting: 0, is_late: false }]);
});
