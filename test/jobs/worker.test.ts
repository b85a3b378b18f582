import { randomUUID } from "node:crypto";
import test from "ava";
import { pino } from "pino";
import { crontab } from "../../jobs/crontab.ts";
import { migrateDatabase } from "../../src/database/migrations.ts";
import { startWorker } from "../../src/worker/start_worker.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { buy } from "../helpers/exchange/orders.ts";
import { relayAll } from "../helpers/exchange/user_events.ts";
import { until } from "../helpers/until.ts";
import { makeQueue, startTestWorker } from "../helpers/exchange/test_worker.ts";
import type { TestWorker } from "../helpers/exchange/test_worker.ts";

const exchange = testExchange(test);
const { cancel, clock, makeLiveMarket, makeMarket, makeMarketWith, makeTrader, makeTraders } =
  exchange;
const { order, place, rest } = exchange;

const DAY = 86_400_000;

let worker: TestWorker;
/** What was under way then stays locked until it is taken for lost. */
let connectionsLostAt = new Date(0);

test.before("start a worker", async () => {
  await makeQueue(exchange.database);
  await clock.freeze("2030-01-01T12:00:00Z");
  worker = await startTestWorker(exchange.database);
});

const inSeconds = async (seconds: number): Promise<string> => {
  const { rows } = await exchange.database.pool.query(
    "select core.now() + $1::int * interval '1 second' as at",
    [seconds],
  );
  return rows[0].at.toISOString();
};

const reasonOf = async (trader: string, id: string) => (await order(trader, id)).cancelReason;

/** As the crontab would at its time. */
const ring = (name: string) =>
  exchange.database.pool.query("select graphile_worker.add_job($1, job_key => $1)", [name]);

const rowsIn = async (table: string): Promise<number> =>
  (await exchange.database.pool.query(`select count(*) from ${table}`)).rows[0].count;

test.serial("orders expire and markets close when it is time", async (t) => {
  const market = await makeMarket({ close_time: await inSeconds(60) });
  const ann = await makeTrader();
  const [first, second] = await rest(
    ...([market, ann] as const),
    buy("no", 1, 10, { expiresAt: await inSeconds(30) }),
    buy("no", 1, 10),
  );
  await clock.advance(29_999);
  t.is(await reasonOf(ann, first), null);
  await clock.advance(1);
  await until("the order expired", async () => (await reasonOf(ann, first)) === "expired");
  t.is(await reasonOf(ann, second), null);
  await clock.advance(30_000);
  await until("it closed", async () => (await exchange.market(market)).status === "closed");
  t.is(await reasonOf(ann, second), "market_closed");
});

test.serial("scheduled orders are released when it is time, and not before", async (t) => {
  const { market } = await makeLiveMarket();
  const [ann, bob] = await makeTraders(2);
  const { id } = (await place(market, ann, buy("no", 10, 40))).order;
  await clock.advance(2999);
  const taker = (await place(market, bob, buy("yes", 4, 60))).order;
  t.is((await order(ann, id)).status, "scheduled");
  await clock.advance(1);
  await until("it is released", async () => (await order(ann, id)).status === "open");
  t.is((await order(bob, taker.id)).status, "scheduled");
  await clock.advance(2999);
  await until("it is filled", async () => (await order(bob, taker.id)).status === "filled");
  t.like(await order(ann, id), { status: "partially_filled", filledQuantity: 4 });
});

test.serial("a failing market does not delay the orders of others", async (t) => {
  const [bad, good] = [await makeLiveMarket(), await makeLiveMarket()];
  const ann = await makeTrader();
  const stuck = (await place(bad.market, ann, buy("no", 10, 40))).order;
  const id = (await place(good.market, ann, buy("no", 10, 40))).order.id;
  const { pool } = exchange.database;
  const { rows } = await pool.query("select id from trading.orders where public_id = $1", [
    stuck.id,
  ]);
  await pool.query(
    `alter table trading.active_orders add constraint broken
     check (order_id <> ${rows[0].id} or queue_position is null)`,
  );
  await clock.advance(3000);
  await until("the other is released", async () => (await order(ann, id)).status === "open");
  await until("it failed", async () => worker.log.some((line) => line.includes("broken")));
  t.is((await order(ann, stuck.id)).status, "scheduled");
  await pool.query("alter table trading.active_orders drop constraint broken");
  await until("it is released", async () => (await order(ann, stuck.id)).status === "open");
});

test.serial("old orders are archived, old keys and events are removed", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const request = buy("no", 1, 10, { idempotencyKey: randomUUID() });
  const { id } = (await place(market, ann, request)).order;
  await cancel(ann, id);
  await relayAll(exchange.api);
  t.true((await rowsIn("trading.sent_events")) > 0);
  await clock.advance(30 * DAY);
  await ring("orders__archive");
  await until("it is archived", async () => (await rowsIn("trading.archived_orders")) > 0);
  await ring("keys__remove");
  await until("keys are gone", async () => (await rowsIn("trading.idempotency_keys")) === 0);
  await ring("sent_events__remove");
  await until("events are gone", async () => (await rowsIn("trading.sent_events")) === 0);
  t.is((await order(ann, id)).id, id);
});

/** Two jobs that are not tried again. One has no key any more, as after another request of it. */
async function failForGood(): Promise<() => Promise<(string | null)[]>> {
  const { pool } = exchange.database;
  await pool.query(
    `select graphile_worker.add_job('keys__remove', job_key => a.key)
     from unnest('{mine,null}'::text[]) as a (key);
     update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'It failed'
     where key = 'mine' or key is null and locked_at is null`,
  );
  return async () => {
    const { rows } = await pool.query(
      "select key from graphile_worker._private_jobs where last_error = 'It failed' order by key",
    );
    return rows.map(({ key }) => key);
  };
}

test.serial("the job of a lost worker is taken over", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  await worker.close();
  const [id] = await rest(
    ...([market, ann] as const),
    buy("no", 1, 10, { expiresAt: await inSeconds(1) }),
  );
  await clock.advance(1000);
  await ring("orders__expire");
  const { rowCount } = await exchange.database.pool.query(
    `update graphile_worker._private_jobs
     set locked_at = now(), locked_by = 'lost', attempts = 1 where key = 'orders__expire'`,
  );
  t.is(rowCount, 1);
  const failed = await failForGood();
  worker = await startTestWorker(exchange.database);
  const ms = await until("it expired", async () => (await reasonOf(ann, id)) === "expired");
  t.log(`after ${Math.round(ms)} ms`);
  await until("the replaced job is gone", async () => (await failed()).length < 2);
  t.deepEqual(await failed(), ["mine"]);
  await exchange.database.pool.query("select graphile_worker.force_unlock_workers('{lost}')");
});

test.serial("it goes on after its connections were lost", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const { rowCount } = await exchange.database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
       and query ~ 'LISTEN|graphile_worker|jobs\.next_work'`,
  );
  t.true(rowCount! > 0);
  const { rows } = await exchange.database.pool.query("select clock_timestamp() as at");
  connectionsLostAt = rows[0].at;
  const [id] = await rest(
    ...([market, ann] as const),
    buy("no", 1, 10, { expiresAt: await inSeconds(1) }),
  );
  await clock.advance(1000);
  await until("it expired", async () => (await reasonOf(ann, id)) === "expired");
});

test.serial("a job that fails is tried again", async (t) => {
  const [market, ann] = await makeMarketWith(1);
  const [id] = await rest(
    ...([market, ann] as const),
    buy("no", 1, 10, { expiresAt: await inSeconds(1) }),
  );
  const { pool } = exchange.database;
  await pool.query(
    "revoke execute on function jobs.expire_orders(bigint, int, boolean) from exchange_worker",
  );
  await clock.advance(1000);
  await until("it failed", async () => worker.log.some((line) => line.includes("orders__expire")));
  t.is(await reasonOf(ann, id), null);
  await pool.query(
    "grant execute on function jobs.expire_orders(bigint, int, boolean) to exchange_worker",
  );
  await until("it expired", async () => (await reasonOf(ann, id)) === "expired");
});

test.serial("a worker refuses a database that is not migrated, or has no queue", async (t) => {
  const database = await createDatabase({ empty: true });
  const { connectionString } = database;
  const logger = pino({ level: "silent" });
  const start = () => startWorker({ connectionString, logger, crontab });
  const refused = (message: RegExp) =>
    t.throwsAsync(start(), { name: "DatabaseNotReadyError", message });
  try {
    await refused(/lacks .* migration.*: run npm run migrate/);
    await migrateDatabase(connectionString);
    await database.pool.query("drop schema graphile_worker cascade");
    await refused(/lacks the job queue: run npm run migrate/);
    await migrateDatabase(connectionString);
    await (await start()).close();
  } finally {
    await database.drop();
  }
});

test.serial("it ends in order", async (t) => {
  const before = worker.log.length;
  await worker.close();
  t.deepEqual(worker.log.slice(before), []);
  const { rows } = await exchange.database.pool.query(
    "select count(*) from graphile_worker._private_jobs where locked_at > $1",
    [connectionsLostAt],
  );
  t.is(rows[0].count, 0);
});
