import { spawnSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import type { ExecutionContext } from "ava";
import { pino } from "pino";
import { Registry } from "prom-client";
import { makePool } from "../../src/database/pools.ts";
import { measureDatabase } from "../../src/database/database_metrics.ts";
import { gaugeStandbys } from "../../src/database/standby_metrics.ts";
import type { Standbys, StandbyStatus } from "../../src/database/standbys.ts";
import { makeRegistry } from "../../src/process_metrics.ts";
import { makeWorkerHealth } from "../../src/worker/health.ts";
import { makeWorkerRegistry } from "../../src/worker/serve_health.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { nextMail } from "../helpers/exchange/next_mail.ts";
import { makeQueue } from "../helpers/exchange/test_worker.ts";
import { testService } from "../helpers/http/test_service.ts";
import { makeVisitor } from "../helpers/http/visitor.ts";
import { passTime } from "../helpers/pass_time.ts";
import { readText } from "../helpers/repository.ts";
import { until } from "../helpers/until.ts";
import { firesAfter, hasPromtool, readScrape, rulesFile } from "./promtool.ts";
import type { Course, Rule, Scrape } from "./promtool.ts";
import { OWN_LOCKS } from "../helpers/database/own_locks.ts";

/**
 * Each rule of deploy/prometheus/alerts.yml is tried by causing what it is for, in a server on a
 * database: promtool evaluates the rules on what the server then shows. Some causes take too long or
 * too much, and are made up.
 */

// Calls wait for locks as those of the pool `orders`.
const service = testService(test, { lockTimeoutMs: 50 });
const { call, makeMarket, makeTrader, operate } = service;
const database = () => service.database.pool;
const clock = () => testClock(database());

const unit: Record<string, number> = { s: 1, m: 60, h: 3600 };

const rules: Rule[] = readText("deploy/prometheus/alerts.yml")
  .split("- alert: ")
  .slice(1)
  .map((text) => {
    const [, number = "0", of = "s"] = /^ {8}for: (\d+)([smh])$/m.exec(text) ?? [];
    const name = text.slice(0, text.indexOf("\n"));
    return { name, forSeconds: Number(number) * unit[of]!, text };
  });

async function scrape(): Promise<Scrape> {
  passTime(1000);
  return readScrape(await service.context.metrics.render());
}

const tried = new Set<string>();
/** Without promtool nothing is tried. */
const whereTried = hasPromtool ? test.serial : test.serial.skip;

/** Tries a rule by what shows before and after its cause. */
function expectAlert(t: ExecutionContext, alert: string, course: Course) {
  const rule = rules.find(({ name }) => name === alert);
  if (rule === undefined) throw new Error(`there is no alert ${alert}`);
  tried.add(alert);
  t.true(firesAfter(rule, course), alert);
}

/** Tries rules by a cause that shows in the metrics of the server. */
function tryRule(
  alerts: string | string[],
  title: string,
  cause: (t: ExecutionContext) => Promise<unknown>,
  options: { continues?: boolean; repair?: () => Promise<unknown> } = {},
) {
  const names = [alerts].flat();
  whereTried(`${names.join(", ")}: ${title}`, async (t) => {
    await clock().release();
    await database().query("select jobs.beat()");
    await database().query("select ledger.seal()");
    const before = await scrape();
    let after: Scrape;
    try {
      const seen = await cause(t);
      after = seen instanceof Map ? (seen as Scrape) : await scrape();
    } finally {
      await options.repair?.();
    }
    const { continues = false } = options;
    for (const name of names) expectAlert(t, name, { before, after, continues });
  });
}

test.serial("a worker works, and a check has run", async (t) => {
  await makeQueue(service.database);
  await database().query("select jobs.beat()");
  await database().query("select jobs.verify_ledger()");
  t.is((await scrape()).get("pgmarkets_ledger_broken_invariants"), 0);
});

whereTried("Prometheus takes the file", (t) => {
  const { status, stdout } = spawnSync("promtool", ["check", "rules", rulesFile]);
  t.is(status, 0, String(stdout));
  t.true(rules.length > 20);
});

tryRule("LedgerBroken", "a check finds a difference", async () => {
  const marketId = await makeMarket();
  await database().query(
    `update trading.market_state set traders_count = 9
     where market_id = (select id from catalog.markets where public_id = $1)`,
    [marketId],
  );
  await database().query("select jobs.verify_ledger()");
  await database().query("update trading.market_state set traders_count = 0");
});

tryRule(["LedgerNotChecked", "NoWorker"], "no worker works for 27 hours", async () => {
  await clock().advance(27 * 3_600_000);
});

tryRule("HistoryNotSealed", "nothing is sealed for six minutes", async () => {
  await makeMarket();
  await clock().advance(360_000);
});

tryRule("HistoryNotVerified", "checks find a difference for 51 hours", async () => {
  await makeMarket();
  await database().query("select ledger.seal()");
  await clock().advance(51 * 3_600_000);
  await database().query(
    `insert into ledger.verifications (started_at, finished_at, broken_count, first_rows)
     select core.now(), core.now(), 1, '[{"name": "n"}]'`,
  );
});

tryRule("ClockOff", "the clock of the database goes 90 s ahead", async () => {
  await clock().advance(90_000);
});

tryRule("NoWorker", "a worker was killed a minute ago", async () => {
  await clock().advance(60_000);
});

tryRule("LedgerNeverChecked", "a database in which no check has run", async () => {
  await database().query(
    "begin; set local session_replication_role = replica; delete from ledger.verifications; commit",
  );
  await database().query("update core.worker_heartbeat set beat_at = null");
});

tryRule(
  "NoWorker",
  "no worker has ever worked",
  async () => {
    await database().query("update core.worker_heartbeat set beat_at = null");
  },
  { repair: () => database().query("select jobs.beat()") },
);

tryRule(
  "UnexpectedErrors",
  "a function of the database is gone",
  async (t) => {
    await database().query("alter function api.list_categories() rename to listed_categories");
    t.is((await call("GET", "/api/v1/categories")).status, 500);
  },
  {
    repair: () =>
      database().query("alter function api.listed_categories() rename to list_categories"),
  },
);

tryRule(
  "ManyUnavailable",
  "orders meet a pause",
  async (t) => {
    const body = { marketId: await makeMarket(), side: "yes", price: 10, quantity: 1 };
    const { key } = await makeTrader();
    await operate("set_trading_pause", { paused: true });
    t.is((await call("POST", "/api/v1/orders", { key, body })).status, 503);
  },
  { continues: true, repair: () => operate("set_trading_pause", { paused: false }) },
);

tryRule(
  "OrdersGivenUp",
  "a person leaves a command open",
  async (t) => {
    const marketId = await makeMarket();
    const { key } = await makeTrader();
    const person = await database().connect();
    await person.query("begin");
    await person.query("select admin.set_market_status(market_id => $1, status => 'paused')", [
      marketId,
    ]);
    const body = { marketId, side: "yes", price: 10, quantity: 1 };
    const { status, body: answer } = await call("POST", "/api/v1/orders", { key, body });
    await person.query("rollback");
    person.release();
    t.deepEqual([status, answer.code], [503, "CONFLICT_RETRY"]);
  },
  { continues: true },
);

tryRule(
  ["SlowOrders", "LongLockWaits"],
  "a session holds a lock",
  async (t) => {
    const body = { marketId: await makeMarket(), side: "yes", price: 10, quantity: 1 };
    const { key } = await makeTrader();
    // What api.get_metrics reads is not locked: the server goes on to show the wait.
    const lock = "lock table trading.traders in access exclusive mode";
    const blocker = await database().connect();
    await blocker.query(`begin; ${lock}`);
    const other = await database().connect();
    const waiting = other.query(`begin; ${lock}; rollback`);
    const long = `select from ${OWN_LOCKS} where not granted and waitstart < now() - interval '2.2 s'`;
    await until("the lock has lasted", async () => (await database().query(long)).rows.length > 0);
    const longest = "pgmarkets_longest_lock_wait_seconds";
    const lasted = (await scrape()).get(longest)!;
    // The server is more patient with an order than this takes.
    const placed = call("POST", "/api/v1/orders", { key, body });
    await delay(700);
    await blocker.query("rollback");
    blocker.release();
    await waiting;
    other.release();
    t.is((await placed).status, 201);
    return new Map([...(await scrape()), [longest, lasted]]);
  },
  { continues: true },
);

whereTried("WorkerNotReady: a job of a worker fails", async (t) => {
  const health = makeWorkerHealth(pino({ level: "silent" }));
  const registry = makeWorkerRegistry(() => health);
  const before = readScrape(await registry.metrics());
  health.failed("orders__expire", new Error("denied"));
  const after = readScrape(await registry.metrics());
  expectAlert(t, "WorkerNotReady", { before, after });
});

tryRule("LateReleases", "an order is not released for a minute", async (t) => {
  const { rows } = await service.database.pool.query(
    "select admin.create_event(title => 'Live', category => 'tests', live => true) as event",
  );
  const { rows: markets } = await service.database.pool.query(
    "select admin.create_market(title => 'Live', category => 'tests', event_id => $1) as market",
    [rows[0].event],
  );
  const body = { marketId: markets[0].market, side: "yes", price: 10, quantity: 1 };
  t.is((await call("POST", "/api/v1/orders", { key: (await makeTrader()).key, body })).status, 201);
  await clock().advance(60_000);
});

tryRule("LateExpiries", "an order is open two minutes after its expiry", async (t) => {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const body = { marketId: await makeMarket(), side: "yes", price: 10, quantity: 1, expiresAt };
  t.is((await call("POST", "/api/v1/orders", { key: (await makeTrader()).key, body })).status, 201);
  await clock().advance(3_720_000);
});

tryRule("LateJobs", "no worker takes a job for ten minutes", async () => {
  await database().query(
    "select graphile_worker.add_job('keys__remove', run_at => now() - interval '10 minutes')",
  );
});

tryRule("MailsNotSent", "a mail waits for 16 minutes", async () => {
  await operate("set_sign_up", { policy: "open" });
  await operate("invite_user", { email: "ann@alerts.example" });
  await clock().advance(16 * 60_000);
});

tryRule("MailsGivenUp", "a mail server takes a mail at none of ten attempts", async (t) => {
  const worker = await database().connect();
  for (let attempt = 1; attempt <= 10; attempt++) {
    const mail = await nextMail(worker);
    t.truthy(mail);
    await worker.query("select jobs.finish_mail(mail_id => $1, error => 'refused')", [
      mail!.mailId,
    ]);
    await clock().advance(24 * 3_600_000);
  }
  worker.release();
});

tryRule(
  "PasswordsTried",
  "wrong passwords come",
  async (t) => {
    const visitor = makeVisitor(service);
    for (let attempt = 1; attempt <= 20; attempt++) {
      const body = { email: "ann@alerts.example", password: `wrong horse battery ${attempt}` };
      const { status } = await visitor.call("POST", "/api/account/sign-in", { body });
      t.true([401, 429].includes(status), String(status));
    }
  },
  { continues: true },
);

whereTried("NoFreeConnection: a call waits while all connections are busy", async (t) => {
  const { connectionString } = service.database;
  const open = () => makePool({ connectionString, applicationName: "pgmarkets test", max: 1 });
  const orders = open();
  const monitoring = open();
  try {
    const registry = makeRegistry();
    const pools = { orders, reads: orders, checks: orders, monitoring };
    const update = measureDatabase(pools, registry);
    const see = async () => {
      await update();
      return readScrape(await registry.metrics());
    };
    const before = await see();
    const busy = await orders.connect();
    const waiting = orders.query("select 1");
    const after = await see();
    busy.release();
    await waiting;
    expectAlert(t, "NoFreeConnection", { before, after });
  } finally {
    await orders.end();
    await monitoring.end();
  }
});

tryRule("Deadlocks", "two sessions wait for each other", async (t) => {
  const clients = [await database().connect(), await database().connect()];
  const [one, other] = clients as [(typeof clients)[0], (typeof clients)[0]];
  await one.query("begin; lock table identity.users in access exclusive mode");
  await other.query("begin; lock table trading.orders in access exclusive mode");
  const results = await Promise.allSettled([
    one.query("lock table trading.orders in access exclusive mode"),
    other.query("lock table identity.users in access exclusive mode").finally(() => undefined),
  ]);
  t.true(results.some(({ status }) => status === "rejected"));
  for (const client of clients) {
    await client.query("rollback");
    client.release();
  }
  await until("it is counted", async () => {
    await database().query("select pg_stat_clear_snapshot()");
    return (await scrape()).get("pgmarkets_database_deadlocks_total")! > 0;
  });
});

tryRule("EventsNotSent", "no server relays the events", async () => {
  const holder = await database().connect();
  await holder.query("select pg_advisory_lock((29037::bigint << 44) - 1)");
  await database().query(
    `insert into trading.outbox (channel, payload)
     select 'market_changed', '{}' from generate_series(1, 1001)`,
  );
  const during = await scrape();
  await database().query("delete from trading.outbox");
  await holder.query("select pg_advisory_unlock((29037::bigint << 44) - 1)");
  holder.release();
  return during;
});

for (const [alert, series, value] of [
  ["FewConnectionsLeft", "pgmarkets_database_connections", 10_000],
  ["CommitsWait", "pgmarkets_commit_wait_seconds", 31],
  ["SlowListeners", "pgmarkets_notification_queue_usage_ratio", 0.6],
  ["ArchiveFails", "pgmarkets_archive_failing", 1],
  ["TransactionIdsRunOut", "pgmarkets_database_transaction_id_age", 1_100_000_000],
] as const) {
  tryRule(alert, `made up, ${series} is ${value}`, async (t) => {
    const now = await scrape();
    t.true(now.has(series));
    return new Map([...now, [series, value]]);
  });
}

tryRule("DiskFull", "made up, a call fails by SQLSTATE 53100", async () => {
  const series = 'pgmarkets_database_failures_total{kind="conflict",sqlstate="53100"}';
  return new Map([...(await scrape()), [series, 1]]);
});

whereTried("ProcessDown: made up, a process does not answer", async (t) => {
  const info = [...(await scrape()).keys()].find((name) => name.startsWith("pgmarkets_info"));
  const before = new Map([
    [info!, 1],
    ["up", 1],
  ] as const);
  expectAlert(t, "ProcessDown", { before, after: new Map([["up", 0]]) });
});

whereTried("NoStandbyReads: made up, both standbys are left", async (t) => {
  const withStandbys = async (statuses: StandbyStatus[]): Promise<Scrape> => {
    const registry = new Registry();
    const figures = () =>
      statuses.map((status, index) => ({ number: index + 1, status, behindBytes: 0, reads: 0 }));
    gaugeStandbys(registry, { figures, primaryReads: () => 0 } as unknown as Standbys);
    return readScrape(await registry.metrics());
  };
  const one = await withStandbys(["away", "in use"]);
  const after = await withStandbys(["away", "behind"]);
  t.true([...after.keys()].some((name) => name.startsWith("pgmarkets_standby_in_use")));
  expectAlert(t, "NoStandbyReads", { before: one, after });
});

tryRule("DatabaseDown", "the database takes no connections", async () => {
  const pool = service.pool;
  const connect = pool.connect.bind(pool);
  pool.connect = (() => Promise.reject(new Error("connect ECONNREFUSED"))) as never;
  const during = await scrape();
  pool.connect = connect as never;
  return during;
});

whereTried("every rule was tried", (t) => {
  t.deepEqual(rules.map(({ name }) => name).sort(), [...tried].sort());
});
