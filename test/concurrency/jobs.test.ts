import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import test from "ava";
import { pairsOf } from "../helpers/contention.ts";
import type { Round } from "../helpers/contention.ts";
import { testExchange } from "../helpers/exchange.ts";
import { buy, ioc } from "../helpers/orders.ts";
import { rootDirectory } from "../helpers/repository.ts";
import { makeQueue, startTestWorker, until } from "../helpers/worker.ts";

/** What time brings about at the same moment as what traders do, and by several workers. */

const exchange = testExchange(test);
const { cancel, clock, listen, makeMarket, makeMarkets, makeTraders, order, place } = exchange;
const { rest, work } = exchange;

const SECOND = 1000;
const DAY = 86_400_000;

test.before("make the queue", () => makeQueue(exchange.database));

async function inSeconds(seconds: number): Promise<string> {
  const { rows } = await exchange.database.pool.query(
    "select core.now() + $1::int * interval '1 second' as at",
    [seconds],
  );
  return rows[0].at.toISOString();
}

/** The clock is everybody's, so rounds and tests go one by one. */
const pair = pairsOf(test, exchange, 15);
function rounds(title: string, ways: readonly string[], round: Round): void {
  pair.serial(title, ways, async (contention, t) => {
    await clock.freeze();
    return await round(contention, t);
  });
}

rounds(
  "an order expires twice while it is met and cancelled: it expired, once",
  ["by a job", "by a trader"],
  async (contention, t) => {
    const market = await makeMarket();
    const [ann, bob] = (await makeTraders(2)) as [string, string];
    const expiresAt = await inSeconds(1);
    const [id] = (await rest(market, ann, buy("no", 10, 40, { expiresAt }))) as [string];
    const { heard } = await listen();
    await heard();
    await clock.advance(SECOND);
    const [first, second, met, cancelled] = await contention.together([
      () => work("expire_orders"),
      () => work("expire_orders"),
      () => contention.place(market, bob, buy("yes", 10, 60, ioc)),
      () => cancel(ann, id),
    ] as const);
    t.is(met.code, "INSUFFICIENT_LIQUIDITY");
    t.is(cancelled.code, "ORDER_NOT_CANCELLABLE");
    t.is((await order(ann, id)).cancelReason, "expired");
    t.true(first + second <= 1);
    const told = (await heard()).users.filter(({ event }) => event.type === "order_cancelled");
    t.deepEqual(
      told.map(({ userId, event }) => [userId, event.orderId]),
      [[ann, id]],
    );
    return first + second === 1 ? "by a job" : "by a trader";
  },
);

rounds(
  "a market closes twice while orders come: afterwards it is closed and empty",
  ["filled", "market_closed"],
  async (contention, t) => {
    const market = await makeMarket({ close_time: await inSeconds(1) });
    const [ann, bob] = (await makeTraders(2)) as [string, string];
    const ids = await rest(market, ann, buy("no", 10, 40), buy("no", 10, 30));
    const [, , placed] = await contention.together([
      async () => {
        await clock.advance(SECOND);
        return await work("close_markets", { most: 1 });
      },
      () => work("close_markets", { most: 1 }),
      () => contention.place(market, bob, buy("yes", 10, 60)),
    ] as const);
    await work("close_markets");
    t.is((await exchange.market(market)).status, "closed");
    t.deepEqual(await exchange.book(market), { bids: [], asks: [] });
    const [first, second] = await Promise.all(
      ids.map(async (id) => {
        const { cancelReason, status } = await order(ann, id);
        return cancelReason ?? status;
      }),
    );
    t.is(second, "market_closed");
    t.is(first, placed.code === null ? "filled" : "market_closed");
    if (placed.code !== null) t.is(placed.code, "MARKET_NOT_OPEN");
    return first!;
  },
);

rounds(
  "orders are archived twice while they are looked up, listed and cancelled: never lost",
  ["first", "second"],
  async (contention, t) => {
    const market = await makeMarket();
    const ann = await exchange.makeTrader();
    const ids: string[] = [];
    for (let number = 1; number <= 8; number++) {
      const request = buy("no", 1, number, { idempotencyKey: randomUUID() });
      ids.push((await place(market, ann, request)).order.id);
    }
    for (const id of ids) await cancel(ann, id);
    await clock.advance(30 * DAY);
    const [one, other, listed, ...outcomes] = await contention.together([
      () => work("archive_orders", { most: 3 }),
      () => work("archive_orders", { most: 3 }),
      () => exchange.orders(ann, { status: "all" }),
      ...ids.map((id) => async () => [await order(ann, id), await cancel(ann, id)] as const),
    ] as const);
    t.true(one + other >= 8);
    t.is(listed.meta.total, 8);
    t.deepEqual(
      listed.data.map(({ id }) => id),
      [...ids].reverse(),
    );
    outcomes.forEach(([found, cancelled], index) => {
      t.is(found.id, ids[index]!);
      t.is(cancelled.code, "ORDER_NOT_CANCELLABLE");
    });
    return one > other ? "first" : "second";
  },
);

rounds(
  "old keys are removed while they are used again: one order each",
  ["removed first", "between", "used first"],
  async (contention, t) => {
    // The keys of the rounds before.
    await clock.advance(DAY);
    await work("remove_keys");
    const market = await makeMarket();
    const [ann] = (await makeTraders(1)) as [string];
    const requests = [1, 2, 3].map((price) =>
      buy("no", 1, price, { idempotencyKey: randomUUID() }),
    );
    for (const request of requests) await place(market, ann, request);
    await clock.advance(DAY);
    const [removed, ...again] = await contention.together([
      () => work("remove_keys"),
      ...[...requests, ...requests].map((request) => () => contention.place(market, ann, request)),
    ] as const);
    t.true(again.every(({ code }) => code === null));
    t.is(new Set(again.map(({ answer }) => answer!.order.id)).size, 3);
    t.is(again.filter(({ replayed }) => replayed).length, 3);
    if (removed === 3) return "removed first";
    return removed === 0 ? "used first" : "between";
  },
);

rounds(
  "everything is done at once while people trade: nobody is in each other's way",
  ["4 released, 2 expired", "2 released, 2 expired"],
  async (contention, t) => {
    const lives = [await exchange.makeLiveMarket(), await exchange.makeLiveMarket()];
    const markets = [...lives.map(({ market }) => market), ...(await makeMarkets(2))];
    const [ann, bob] = (await makeTraders(2)) as [string, string];
    const expiresAt = await inSeconds(3);
    for (const market of markets) {
      await place(market, ann, buy("no", 10, 40));
      await place(market, bob, buy("yes", 10, 30, { expiresAt }));
    }
    await clock.advance(3 * SECOND);
    const [done, again] = await contention.together([
      () => exchange.operate("run_due"),
      () => exchange.operate("run_due"),
      ...markets.map((market) => () => contention.place(market, bob, buy("yes", 5, 60))),
      () => exchange.operate("self_exclude", { user_id: ann }),
    ] as const);
    const sum = (name: string) => Number(done[name]) + Number(again[name]);
    t.true(sum("released") <= 4);
    t.true(sum("expired") <= 4);
    await clock.advance(3 * SECOND);
    await exchange.operate("run_due");
    t.deepEqual((await exchange.orders(ann)).data, []);
    for (const market of markets) {
      const { data } = await exchange.orders(bob, { market, status: "all" });
      t.deepEqual(
        data.filter(({ price }) => price === 30).map(({ cancelReason }) => cancelReason),
        ["expired"],
      );
    }
    return `${sum("released")} released, ${sum("expired")} expired`;
  },
);

test.serial("two workers do everything once", async (t) => {
  await clock.freeze();
  const markets = await makeMarkets(10);
  const traders = await makeTraders(4);
  const expiresAt = await inSeconds(1);
  const ids: [trader: string, id: string][] = [];
  for (const market of markets) {
    for (const trader of traders) {
      const requests = [1, 2, 3, 4, 5].map((price) => buy("no", 1, price, { expiresAt }));
      for (const id of await rest(market, trader, ...requests)) ids.push([trader, id]);
    }
  }
  const { heard } = await listen();
  await heard();
  const workers = await Promise.all([1, 2].map(() => startTestWorker(exchange.database)));
  await clock.advance(SECOND);
  const isLeft = "select exists (select from trading.open_orders where expires_at <= core.now())";
  await until("all expired", async () => {
    const { rows } = await exchange.database.pool.query(isLeft);
    return !rows[0].exists;
  });
  await Promise.all(workers.map((worker) => worker.close()));
  const { users } = await heard();
  t.deepEqual(users.map(({ event }) => event.orderId).sort(), ids.map(([, id]) => id).sort());
  t.deepEqual(
    workers.flatMap(({ log }) => log),
    [],
  );
});

test.serial("a worker is killed in the middle of a job: another finishes it", async (t) => {
  await clock.freeze();
  const { database } = exchange;
  const market = await makeMarket();
  const [ann] = (await makeTraders(1)) as [string];
  const expiresAt = await inSeconds(1);
  const [id] = (await rest(market, ann, buy("no", 1, 10, { expiresAt }))) as [string];

  // Holding the market's lock keeps the job in the middle of its work.
  const holder = await database.pool.connect();
  await holder.query("begin");
  await holder.query(
    "select trading.lock_market(m.id) from catalog.markets as m where m.public_id = $1",
    [market],
  );
  const child = startWorkerProcess(database.connectionString);
  await clock.advance(SECOND);
  const stuck = async () => {
    const { rows } = await database.pool.query(
      `select pid from pg_stat_activity
       where datname = current_database() and wait_event = 'advisory'
         and query like '%jobs.expire_orders%'`,
    );
    return rows.map((row) => row.pid);
  };
  await until("the job is under way", async () => (await stuck()).length > 0);
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
  const { rows } = await database.pool.query(
    `select count(*) from graphile_worker.jobs
     where locked_at is not null and task_identifier = 'orders__expire'`,
  );
  t.is(rows[0].count, 1, "the queue takes the job for being under way");

  const worker = await startTestWorker(database);
  const ms = await until("it expired", async () => (await order(ann, id)).status === "cancelled");
  await worker.close();
  t.log(`after ${Math.round(ms)} ms`);
  t.true(ms < 5000);
});

function startWorkerProcess(connectionString: string): ChildProcess {
  return spawn(process.execPath, [join(rootDirectory, "test/helpers/worker_process.ts")], {
    env: { PATH: process.env.PATH, WORKER_DATABASE_URL: connectionString },
    stdio: "ignore",
  });
}
