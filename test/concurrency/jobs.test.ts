import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import { call } from "../../src/database/call.ts";
import { api } from "../../src/database/calls.ts";
import { noteChanges } from "../helpers/database/schema.ts";
import { withClient } from "../helpers/database/test_database.ts";
import { pairsOf } from "../helpers/exchange/contention.ts";
import type { Round } from "../helpers/exchange/contention.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { buy, ioc } from "../helpers/exchange/orders.ts";
import { rootDirectory } from "../helpers/repository.ts";
import { until } from "../helpers/until.ts";
import { makeQueue, startTestWorker } from "../helpers/exchange/test_worker.ts";

/** What time brings about at the same moment as what traders do, and by several workers. */

const exchange = testExchange(test, { sessions: 20 });
const {
  cancel,
  clock,
  listen,
  makeMarket,
  makeMarketWith,
  makeMarkets,
  makeTrader,
  makeTraders,
  order,
  place,
} = exchange;
const { rest, version, work } = exchange;

const SECOND = 1000;
const DAY = 86_400_000;

test.before("make the queue", () => makeQueue(exchange.database));
// A read gives up its wait for the lock of a market after 50 ms. This machine may be slower.
test.before("let reads wait", async () => {
  await exchange.database.pool.query(
    "alter function trading.time_of_book(bigint) set lock_timeout = '1min'",
  );
  await noteChanges(exchange.database.pool);
});

async function inSeconds(seconds: number): Promise<string> {
  const { rows } = await exchange.database.pool.query(
    "select core.now() + $1::int * interval '1 second' as at",
    [seconds],
  );
  return rows[0].at.toISOString();
}

async function readBook(marketId: string): Promise<{ version: number; body: string }> {
  const read = await withClient(exchange.api, (client) =>
    call(client, api.getOrderBook, { marketId }),
  );
  return read!;
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
    const [market, ann, bob] = await makeMarketWith(2);
    const expiresAt = await inSeconds(1);
    const [id] = await rest(market, ann, buy("no", 10, 40, { expiresAt }));
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
  "the book is read while an order expires, is met, and others come: a version names one book",
  ["by a job", "by a read or a trader"],
  async (contention, t) => {
    const [market, ann, bob, cem] = await makeMarketWith(3);
    const expiresAt = await inSeconds(1);
    await rest(market, ann, buy("no", 10, 40, { expiresAt }));
    const before = await readBook(market);
    await clock.advance(SECOND);
    const calls = [
      () => readBook(market),
      () => readBook(market),
      () => readBook(market),
      async () => ((await work("expire_orders")) === 1 ? "by a job" : null),
      async () => {
        const { code } = await contention.place(market, bob, buy("yes", 10, 60, ioc));
        t.is(code, "INSUFFICIENT_LIQUIDITY");
        return null;
      },
      async () => {
        await contention.place(market, cem, buy("yes", 1, 20));
        return null;
      },
    ];
    const results = await contention.together(calls);
    const read = results.filter((result) => typeof result === "object" && result !== null);
    const books = new Map<number, string>();
    for (const { version, body } of [before, ...read, await readBook(market)]) {
      t.is(books.get(version) ?? body, body, `version ${version}`);
      books.set(version, body);
    }
    t.is(await version(market), before.version + 2, "an order went, and an order came");
    return results.includes("by a job") ? "by a job" : "by a read or a trader";
  },
);

rounds(
  "a market closes twice while orders come: afterwards it is closed and empty",
  ["filled", "market_closed"],
  async (contention, t) => {
    const market = await makeMarket({ close_time: await inSeconds(1) });
    const [ann, bob] = await makeTraders(2);
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

let draft = 0;

rounds(
  "a draft opens by a job while an operator opens or closes it: once, and as the last one says",
  ["opened by the job", "opened by the operator", "closed"],
  async (contention, t) => {
    const market = await makeMarket({ open: false, open_time: await inSeconds(1) });
    const status = (draft += 1) % 2 === 0 ? "open" : "closed";
    const [opened] = await contention.together([
      async () => {
        await clock.advance(SECOND);
        return await work("open_markets");
      },
      () => exchange.operate("set_market_status", { market_id: market, status }),
    ] as const);
    t.is(await work("open_markets"), 0);
    t.is((await exchange.market(market)).status, status);
    const { rows: said } = await exchange.database.pool.query(
      `select from trading.outbox
       where channel = 'market_status' and payload ->> 'marketId' = $1`,
      [market],
    );
    t.is(said.length, status === "closed" ? 1 + opened : 1);
    if (status === "closed") return "closed";
    return opened === 1 ? "opened by the job" : "opened by the operator";
  },
);

rounds(
  "orders are archived twice while they are looked up, listed and cancelled: never lost",
  ["first", "second"],
  async (contention, t) => {
    const [market, ann] = await makeMarketWith(1);
    await work("archive_orders"); // makes the partition for orders of this month
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
  "old keys are removed while they are used again: each makes one order",
  ["removed first", "between", "used first"],
  async (contention, t) => {
    // The keys of the rounds before.
    await clock.advance(DAY);
    await work("remove_keys");
    const [market, ann] = await makeMarketWith(1);
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
  "all jobs run at once while users trade: none blocks another",
  ["all released", "excluded or passed over"],
  async (contention, t) => {
    const lives = [await exchange.makeLiveMarket(), await exchange.makeLiveMarket()];
    const markets = [...lives.map(({ market }) => market), ...(await makeMarkets(2))];
    const [ann, bob] = await makeTraders(2);
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
    return sum("released") === 4 ? "all released" : "excluded or passed over";
  },
);

test.serial("two workers do each job once", async (t) => {
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
  const isLeft = "select exists (select from trading.active_orders where expires_at <= core.now())";
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
  const [market, ann] = await makeMarketWith(1);
  const expiresAt = await inSeconds(1);
  const [id] = await rest(market, ann, buy("no", 1, 10, { expiresAt }));

  // Holding the order's row keeps the job in the middle of its work.
  const holder = await hold(
    "select from trading.active_orders where order_public_id = $1 for update",
    id,
  );
  const child = startWorkerProcess(database.connectionString);
  await clock.advance(SECOND);
  const stuck = async () => {
    const { rows } = await database.pool.query(
      `select pid from pg_stat_activity
       where datname = current_database() and wait_event = 'transactionid'
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
  await holder.letGo();
  t.is((await order(ann, id)).status, "open");
  const { rows } = await database.pool.query(
    `select exists (
       select from graphile_worker.jobs
       where locked_at is not null and task_identifier = 'orders__expire'
     ) as is_locked`,
  );
  t.true(rows[0].is_locked, "the queue takes the job for being under way");

  const worker = await startTestWorker(database);
  const ms = await until("it expired", async () => (await order(ann, id)).status === "cancelled");
  await worker.close();
  t.log(`after ${Math.round(ms)} ms`);
});

/** What a session holds as long as its transaction lasts. */
interface Holder {
  letGo: () => Promise<void>;
}

async function hold(query: string, value: unknown): Promise<Holder> {
  const client = await exchange.database.pool.connect();
  await client.query("begin");
  await client.query(query, [value]);
  return {
    letGo: async () => {
      await client.query("rollback");
      client.release();
    },
  };
}

const LOCK_MARKET =
  "select trading.lock_market(m.id) from catalog.markets as m where m.public_id = any ($1)";

/** Two orders, of which the first waits for its release or expiry in the market. */
interface Due {
  market: string;
  trader: string;
  id: string;
}

async function makeDue(kind: "release" | "expiry" | "closing", seconds: number): Promise<Due> {
  const at = await inSeconds(seconds);
  const trader = await makeTrader();
  if (kind === "release") {
    const { market } = await exchange.makeLiveMarket({ live_delay_ms: seconds * SECOND });
    return { market, trader, id: (await place(market, trader, buy("no", 1, 10))).order.id };
  }
  const market = await makeMarket(kind === "closing" ? { close_time: at } : {});
  const request = buy("no", 1, 10, kind === "expiry" ? { expiresAt: at } : {});
  const [id] = await rest(market, trader, request);
  return { market, trader, id };
}

const kinds = ["release", "expiry", "closing"] as const;

async function isDone({ trader, id }: Due): Promise<boolean> {
  const { status, cancelReason, releaseAt } = await order(trader, id);
  return releaseAt === null ? cancelReason !== null : status === "open";
}

test.serial("jobs pass over locked markets and process them when they are free", async (t) => {
  await clock.freeze();
  // The locked ones have been due for longer, and there are more of them than lanes.
  const locked = await inTurn(kinds, 10, (kind) => makeDue(kind, 1));
  const others = await inTurn(kinds, 5, (kind) => makeDue(kind, 2));
  const holder = await hold(
    LOCK_MARKET,
    locked.map(({ market }) => market),
  );
  const worker = await startTestWorker(exchange.database);
  await clock.advance(2 * SECOND);
  const all = (list: Due[]) => async () => (await Promise.all(list.map(isDone))).every(Boolean);
  const ms = await until("the others are done", all(others));
  t.log(`the others after ${Math.round(ms)} ms`);
  t.false((await Promise.all(locked.map(isDone))).some(Boolean));

  const later = await inTurn(kinds, 1, (kind) => makeDue(kind, 1));
  await clock.advance(SECOND);
  t.log(`later ones after ${Math.round(await until("later ones are done", all(later)))} ms`);

  await holder.letGo();
  t.log(`these after ${Math.round(await until("these are done", all(locked)))} ms`);
  await worker.close();
  t.deepEqual(
    worker.log.filter((line) => !line.includes("a market stays locked")),
    [],
  );
});

test.serial(
  "a locked trader or category does not delay releases and closings of others",
  async (t) => {
    await clock.freeze();
    const stuck = await inTurn(["release"] as const, 10, () => makeDue("release", 1));
    const closing = await makeDue("closing", 1);
    const others = await inTurn(["release", "expiry"] as const, 5, (kind) => makeDue(kind, 2));
    const traders = await hold(
      "select from trading.traders where public_id = any ($1) for update",
      stuck.map(({ trader }) => trader),
    );
    const category = await hold(
      "select from catalog.categories where slug = $1 for update",
      "tests",
    );
    const worker = await startTestWorker(exchange.database);
    await clock.advance(2 * SECOND);
    const all = (list: Due[]) => async () => (await Promise.all(list.map(isDone))).every(Boolean);
    await until("the others are done", all(others));
    t.false((await Promise.all([...stuck, closing].map(isDone))).some(Boolean));
    await traders.letGo();
    await category.letGo();
    await until("these are done", all([...stuck, closing]));
    await worker.close();
    t.deepEqual(
      worker.log.filter((line) => !line.includes("a market stays locked")),
      [],
    );
  },
);

test.serial("jobs process a market that is hardly ever free", async (t) => {
  await clock.freeze();
  const due = await inTurn(kinds, 1, (kind) => makeDue(kind, 1));
  const ids = due.map(({ market }) => market);
  // Two sessions by turns: one waits in line while the other has the locks.
  let ending = false;
  const keepLocked = async () => {
    while (!ending) {
      const holder = await hold(LOCK_MARKET, ids);
      await delay(20);
      await holder.letGo();
    }
  };
  const busy = [keepLocked(), keepLocked()];
  const worker = await startTestWorker(exchange.database);
  await clock.advance(SECOND);
  const isAllDone = async () => (await Promise.all(due.map(isDone))).every(Boolean);
  const ms = await until("all are done", isAllDone).finally(() => (ending = true));
  t.log(`after ${Math.round(ms)} ms`);
  await Promise.all(busy);
  await worker.close();
  t.true(await isAllDone());
});

/** So many of each kind, one after another. */
async function inTurn<Kind>(
  each: readonly Kind[],
  count: number,
  make: (kind: Kind) => Promise<Due>,
): Promise<Due[]> {
  const made: Due[] = [];
  for (let number = 0; number < count; number++) {
    for (const kind of each) made.push(await make(kind));
  }
  return made;
}

function startWorkerProcess(connectionString: string): ChildProcess {
  return spawn(process.execPath, [join(rootDirectory, "test/concurrency/worker_process.ts")], {
    env: { PATH: process.env.PATH, WORKER_DATABASE_URL: connectionString },
    stdio: "ignore",
  });
}
