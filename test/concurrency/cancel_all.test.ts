import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import test from "ava";
import { call } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import { withClient } from "../helpers/database/test_database.ts";
import { pairsOf } from "../helpers/exchange/contention.ts";
import type { Contention, Round } from "../helpers/exchange/contention.ts";
import { keyedCommands, newKey } from "../helpers/exchange/keyed_commands.ts";
import type { Once } from "../helpers/exchange/keyed_commands.ts";
import { buy } from "../helpers/exchange/orders.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { makeQueue, startTestWorker } from "../helpers/exchange/test_worker.ts";
import { rootDirectory } from "../helpers/repository.ts";
import { until } from "../helpers/until.ts";

/** Cancels of all orders, and dead man's switches, at the same moment as what else happens. */

const exchange = testExchange(test, { sessions: 20 });
const { clock, listen, makeMarketWith, makeMarkets, makeTraders, order, rest } = exchange;

test.before("make the queue", () => makeQueue(exchange.database));

/** The clock is everybody's, so rounds and tests go one by one. */
const pair = pairsOf(test, exchange, 15);
function rounds(title: string, ways: readonly string[], round: Round): void {
  pair.serial(title, ways, async (contention, t) => {
    await clock.freeze();
    return await round(contention, t);
  });
}

const commandsOf = (contention: Contention) => keyedCommands(exchange, contention);

/** Its answer says how many orders it cancelled. */
async function cancelAll(contention: Contention, userId: string, once: Partial<Once> = {}) {
  const { replayed, body } = await commandsOf(contention).cancelAll(userId, once);
  return { replayed, cancelled: JSON.parse(body!).cancelled as number };
}

const fire = (contention: Contention) => commandsOf(contention).fire();

const setDeadMan = (userId: string, timeoutMs: number) =>
  withClient(exchange.api, (client) => call(client, api.setDeadMan, { userId, timeoutMs }));

rounds(
  "a switch fires while it is renewed: one of both happens, as the answer says",
  ["renewed", "fired"],
  async (contention, t) => {
    const [market, ann] = await makeMarketWith(1);
    const ids = await rest(market, ann, buy("no", 1, 40), buy("no", 1, 41));
    await setDeadMan(ann, 1000);
    const [, renewed] = await contention.together([
      () => clock.advance(1000),
      () => setDeadMan(ann, 5000),
      () => fire(contention),
      () => fire(contention),
    ] as const);
    await fire(contention);
    const statuses = await Promise.all(ids.map(async (id) => (await order(ann, id)).status));
    // Set anew, when all was over: then the answer says when it fired.
    const isNew = renewed.code === null && renewed.firedAt !== null;
    const way = renewed.code === null && !isNew ? "renewed" : "fired";
    t.deepEqual(
      statuses,
      ids.map(() => (way === "renewed" ? "open" : "cancelled")),
      way,
    );
    await clock.advance(5000);
    t.is(await fire(contention), way === "renewed" ? 2 : 0);
    return way;
  },
);

rounds(
  "the same key twice at once: both get one answer, and the orders are counted once",
  ["first", "second"],
  async (contention, t) => {
    const markets = await makeMarkets(3);
    const [ann, bob] = await makeTraders(2);
    for (const market of markets) await rest(market, ann, buy("no", 1, 40), buy("no", 1, 41));
    const once = newKey();
    const [first, second] = await contention.together([
      () => cancelAll(contention, ann, once),
      () => cancelAll(contention, ann, once),
      () => contention.place(markets[0], bob, buy("yes", 1, 10)),
    ] as const);
    t.is(first.cancelled, 6);
    t.is(second.cancelled, 6);
    t.true(first.replayed !== second.replayed);
    t.deepEqual((await exchange.orders(ann)).data, []);
    return first.replayed ? "second" : "first";
  },
);

rounds(
  "all orders are cancelled while they are met, amended, released and placed",
  ["amended", "cancelled"],
  async (contention, t) => {
    const markets = await makeMarkets(3);
    const { market: live } = await exchange.makeLiveMarket({ live_delay_ms: 1000 });
    const [ann, bob] = await makeTraders(2);
    const ids: string[] = [];
    for (const market of markets) ids.push(...(await rest(market, ann, buy("no", 5, 40))));
    await exchange.place(live, ann, buy("no", 5, 40));
    await clock.advance(1000);
    const key = randomUUID();
    const [, amended, late] = await contention.together([
      () => cancelAll(contention, ann),
      () => exchange.amend(ann, ids[1]!, { price: 41 }),
      () => contention.place(markets[2], ann, buy("no", 2, 30, { idempotencyKey: key })),
      () => contention.place(markets[0], bob, buy("yes", 2, 60)),
      () => exchange.release(live),
    ] as const);
    const open = (await exchange.orders(ann)).data.map(({ id }) => id);
    t.deepEqual(
      open.filter((id) => id !== late.answer!.order.id),
      [],
    );
    await cancelAll(contention, ann);
    return amended.code === null ? "amended" : "cancelled";
  },
);

const USERS = 1000;
const MARKETS = 50;

test.serial("1,000 switches fire at once: two workers cancel each order once", async (t) => {
  t.timeout(180_000);
  await clock.release();
  const markets = await makeMarkets(MARKETS);
  const traders = await makeTraders(USERS);
  const ids: string[] = [];
  for (const [index, trader] of traders.entries()) {
    const batch = [1, 2].map((price): [string, ReturnType<typeof buy>] => [
      trader,
      buy("no", 1, price),
    ]);
    const outcomes = await exchange.placeBatch(markets[(index * 7) % MARKETS]!, batch);
    ids.push(...outcomes.map(({ answer }) => answer!.order.id));
  }
  const { heard } = await listen();
  await heard();
  const running = await Promise.all([1, 2].map(() => startTestWorker(exchange.database)));
  const expiresAt = await exchange.database.pool.query(
    `insert into trading.dead_man_switches (user_id, expires_at)
     select u.id, core.now() + interval '1 second'
     from identity.users as u
     where u.public_id = any ($1)
     returning expires_at`,
    [traders],
  );
  t.is(expiresAt.rowCount, USERS);
  await until("all have fired", async () => {
    const { rows } = await exchange.database.pool.query(
      "select exists (select from trading.dead_man_switches where expires_at is not null) as is_on",
    );
    return !rows[0].is_on;
  });
  const { rows } = await exchange.database.pool.query(
    `select percentile_disc(0.99) within group (
       order by 1000 * extract(epoch from o.cancelled_at - $2::timestamptz)
     ) as ms
     from trading.orders as o
     where o.public_id = any ($1)`,
    [ids, expiresAt.rows[0].expires_at],
  );
  t.log(`99 of 100 were cancelled within ${Math.round(rows[0].ms)} ms`);
  await Promise.all(running.map((worker) => worker.close()));
  const { users } = await heard();
  t.deepEqual(users.map(({ event }) => event.orderId).sort(), ids.sort());
  t.deepEqual(
    running.flatMap(({ log }) => log),
    [],
  );
});

test.serial("a worker is killed while a switch fires: another finishes it", async (t) => {
  await clock.freeze();
  const { database } = exchange;
  const [market, ann] = await makeMarketWith(1);
  const [id] = await rest(market, ann, buy("no", 1, 10));
  await setDeadMan(ann, 1000);

  // Holding the order's row keeps the job in the middle of its work.
  const holder = await database.pool.connect();
  await holder.query("begin");
  await holder.query("select from trading.active_orders where order_public_id = $1 for update", [
    id,
  ]);
  const child = startWorkerProcess(database.connectionString);
  await clock.advance(1000);
  const stuck = async () => {
    const { rows } = await database.pool.query(
      `select pid from pg_stat_activity
       where datname = current_database() and wait_event = 'transactionid'
         and query like '%jobs.cancel_dead_man_orders%'`,
    );
    return rows.map((row) => row.pid);
  };
  await until("the job is under way", async () => (await stuck()).length > 0);
  t.is((await setDeadMan(ann, 5000)).code, "DEAD_MAN_FIRED");
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
  await database.pool.query("select pg_terminate_backend(pid) from unnest($1::int[]) as pid", [
    await stuck(),
  ]);
  await until("nothing of it is left", async () => (await stuck()).length === 0);
  await holder.query("rollback");
  holder.release();
  t.is((await order(ann, id)).status, "open");
  t.is((await setDeadMan(ann, 5000)).code, "DEAD_MAN_FIRED");

  const worker = await startTestWorker(database);
  await until("it fired", async () => (await order(ann, id)).status === "cancelled");
  await worker.close();
  t.is((await setDeadMan(ann, 0)).code, null);
});

function startWorkerProcess(connectionString: string): ChildProcess {
  return spawn(process.execPath, [join(rootDirectory, "test/concurrency/worker_process.ts")], {
    env: { PATH: process.env.PATH, WORKER_DATABASE_URL: connectionString },
    stdio: "ignore",
  });
}
