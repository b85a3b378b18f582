import { randomUUID } from "node:crypto";
import test from "ava";
import { openEvents } from "../helpers/http/event_source.ts";
import { passTime } from "../helpers/pass_time.ts";
import { until } from "../helpers/until.ts";
import { testService } from "../helpers/http/test_service.ts";
import { makeVisitor } from "../helpers/http/visitor.ts";

const service = testService(test);
const { call, makeMarket, makeTrader, operate } = service;

/** The figures now, by name and labels as they are printed. */
async function scrape(): Promise<Map<string, number>> {
  passTime(1000);
  const answer = await call("GET", "/metrics");
  t200(answer.status);
  const lines = String(answer.body).split("\n");
  return new Map(
    lines
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => {
        const end = line.lastIndexOf(" ");
        return [line.slice(0, end), Number(line.slice(end + 1))] as const;
      }),
  );
}

function t200(status: number) {
  if (status !== 200) throw new Error(`GET /metrics gave ${status}`);
}

test.serial("requests, orders and jobs are counted", async (t) => {
  const marketId = await makeMarket();
  const [ann, bob] = [await makeTrader(), await makeTrader()];
  const poor = await makeTrader({ fundsCents: 0 });
  const order = { marketId, side: "yes", price: 60, quantity: 5 };
  const before = await scrape();
  t.is(before.get('pgmarkets_orders_total{result="placed"}'), 0);
  t.is(before.get("pgmarkets_trades_total"), 0);

  const place = (key: string, body: object) => call("POST", "/api/v1/orders", { key, body });
  t.is((await place(ann.key, order)).status, 201);
  const idempotencyKey = randomUUID();
  const other = { ...order, side: "no", price: 40, idempotencyKey };
  t.is((await place(bob.key, other)).status, 201);
  t.is((await place(bob.key, other)).status, 200);
  t.is((await place(poor.key, order)).status, 400);
  t.is((await place("jk_x", order)).status, 401);
  t.is((await place(ann.key, { ...order, price: 100 })).status, 400);

  const after = await scrape();
  t.is(after.get('pgmarkets_orders_total{result="placed"}'), 2);
  t.is(after.get('pgmarkets_orders_total{result="replayed"}'), 1);
  t.is(after.get('pgmarkets_orders_total{result="rejected"}'), 1);
  t.is(after.get("pgmarkets_trades_total"), 1);
  t.is(after.get('pgmarkets_order_batch_size_bucket{le="1"}'), 4);
  t.is(after.get('pgmarkets_rejections_total{code="INSUFFICIENT_BALANCE"}'), 1);
  t.is(after.get('pgmarkets_rejections_total{code="UNAUTHORIZED"}'), 1);
  t.is(after.get('pgmarkets_rejections_total{code="INVALID_REQUEST"}'), 1);
  const timed = (status: number) =>
    after.get(
      `pgmarkets_http_requests_total{method="POST",route="/api/v1/orders",status="${status}"}`,
    );
  t.deepEqual([201, 200, 400, 401].map(timed), [2, 1, 2, 1]);
});

test.serial("all orders of an atomic batch that is rejected count as rejected", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const rests = { marketId, side: "yes", price: 10, quantity: 1 };
  const orders = [rests, { ...rests, timeInForce: "fok" }, rests];
  const countOf = async () => {
    const figures = await scrape();
    const named = (result: string) => figures.get(`pgmarkets_orders_total{result="${result}"}`)!;
    return [named("placed"), named("rejected"), figures.get("pgmarkets_order_batch_size_sum")!];
  };
  for (const headers of [{}, { "Idempotency-Key": randomUUID() }]) {
    const before = await countOf();
    const body = { orders, atomic: true };
    t.is((await call("POST", "/api/v1/orders/batch", { key, headers, body })).status, 409);
    const after = await countOf();
    t.deepEqual(
      after.map((count, place) => count - before[place]!),
      [0, 3, 3],
    );
  }
});

test.serial("failures of the database and repeated calls are counted", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const body = { marketId, side: "yes", price: 10, quantity: 1, idempotencyKey: randomUUID() };
  const blocker = await service.database.pool.connect();
  await blocker.query("begin; lock table trading.idempotency_keys in access exclusive mode");
  const pending = call("POST", "/api/v1/orders", { key, body });
  let waiting: { pid: number }[] = [];
  await until("the order waits for the lock", async () => {
    const { rows } = await service.database.pool.query(
      "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    );
    waiting = rows;
    return rows.length > 0;
  });
  const during = await scrape();
  t.true(during.get("pgmarkets_waiting_locks")! >= 1);
  t.true(during.get("pgmarkets_longest_lock_wait_seconds")! > 0);
  await blocker.query("select pg_cancel_backend($1)", [waiting[0]!.pid]);
  await blocker.query("rollback");
  blocker.release();
  t.is((await pending).status, 201);

  const after = await scrape();
  t.is(after.get('pgmarkets_database_failures_total{kind="conflict",sqlstate="57014"}'), 1);
  t.is(after.get("pgmarkets_database_retries_total"), 1);
});

test.serial("the state of the site and of the pool", async (t) => {
  await operate("set_trading_pause", { paused: true });
  const paused = await scrape();
  t.is(paused.get("pgmarkets_trading_paused"), 1);
  t.is(paused.get("pgmarkets_database_up"), 1);
  t.is(paused.get('pgmarkets_pool_connections{pool="orders",state="waiting"}'), 0);
  t.false(paused.has("pgmarkets_ledger_broken_invariants"));
  t.false(paused.has("pgmarkets_sealed_block"));
  t.true(paused.get("pgmarkets_oldest_unsealed_row_age_seconds")! > 0);
  t.is(paused.get("pgmarkets_unverified_blocks"), 0);
  t.is(paused.get("pgmarkets_oldest_unverified_block_age_seconds"), 0);
  await service.database.pool.query("select ledger.seal()");
  await operate("set_trading_pause", { paused: false });
  await service.database.pool.query(
    `insert into ledger.verifications (started_at, finished_at, broken_count, first_rows)
     values (now() - interval '61 s', now() - interval '60 s', 2, '[{}, {}]')`,
  );
  const after = await scrape();
  t.is(after.get("pgmarkets_trading_paused"), 0);
  t.is(after.get("pgmarkets_ledger_broken_invariants"), 2);
  t.true(after.get("pgmarkets_ledger_verification_age_seconds")! >= 60);
  t.is(after.get("pgmarkets_sealed_block"), 1);
  t.is(after.get("pgmarkets_unverified_blocks"), 1);
  t.true(after.get("pgmarkets_oldest_unverified_block_age_seconds")! > 0);
});

test.serial("streams that are open", async (t) => {
  const marketId = await makeMarket();
  const { key } = await makeTrader();
  const market = await openEvents(`${service.url}/api/v1/markets/${marketId}/stream`);
  const user = await openEvents(`${service.url}/api/v1/user/stream`, {
    authorization: `Bearer ${key}`,
  });
  const open = await scrape();
  t.is(open.get('pgmarkets_streams{kind="market"}'), 1);
  t.is(open.get('pgmarkets_streams{kind="user"}'), 1);
  t.is(open.get("pgmarkets_listeners"), 1);
  t.is(open.get("pgmarkets_streams_dropped_total"), 0);
  market.close();
  user.close();
  const { streams } = service.context;
  await until("they are closed", () => Promise.resolve(streams.counts().userStreams === 0));
});

test.serial(
  "sign-ins and failed attempts are counted by status, and mails that wait",
  async (t) => {
    await operate("set_sign_up", { policy: "open" });
    const visitor = makeVisitor(service);
    const account = { email: "ann@metrics.example", password: "correct horse battery" };
    const before = await scrape();
    const signedUp = await visitor.call("POST", "/api/account/sign-up", {
      body: { ...account, displayName: "Ann", handle: "ann-of-metrics" },
    });
    t.is(signedUp.status, 201);
    const { rows } = await service.database.pool.query(
      `update identity.users as u set email = c.email
     from identity.email_claims as c where c.user_id = u.id returning u.email`,
    );
    t.is(rows.length, 1);
    const signIn = async (password: string) =>
      (await visitor.call("POST", "/api/account/sign-in", { body: { ...account, password } }))
        .status;
    t.is(await signIn(account.password), 200);
    t.is(await signIn("wrong horse battery"), 401);
    t.is(await signIn("no horse battery"), 401);

    const after = await scrape();
    const route = 'route="/api/account/sign-in"';
    const counted = (status: number) =>
      after.get(`pgmarkets_http_requests_total{method="POST",${route},status="${status}"}`);
    t.deepEqual([200, 401].map(counted), [1, 2]);
    t.is(before.get("pgmarkets_waiting_mails"), 0);
    t.is(before.get("pgmarkets_oldest_mail_age_seconds"), 0);
    t.is(before.get("pgmarkets_failed_mails"), 0);
    // The confirmation waits. The sign-in from the browser of the session before needs no notice.
    t.is(after.get("pgmarkets_waiting_mails"), 1);
    t.true(after.get("pgmarkets_oldest_mail_age_seconds")! > 0);
  },
);

test.serial("no metric names a user, a market or a key", async (t) => {
  const marketId = await makeMarket();
  const { key, userId } = await makeTrader();
  await call("GET", `/api/v1/markets/${marketId}`, { key });
  await call("GET", `/nothing/${userId}`, { key });
  const { body } = await call("GET", "/metrics");
  t.notRegex(body, /jk_|[0-9a-f]{8}-[0-9a-f]{4}-|@|trader/);
  const labels = [...String(body).matchAll(/[{,](\w+)="/g)].map(([, name]) => name);
  t.deepEqual(
    [...new Set(labels)].filter((name) => name?.includes("user")),
    [],
  );
});

test.serial("monitors share one text, for a second", async (t) => {
  const { registry } = service.context.metrics;
  const make = registry.metrics.bind(registry);
  let made = 0;
  registry.metrics = () => {
    made++;
    return make();
  };
  const read = async () => String((await call("GET", "/metrics")).body);
  passTime(1000);
  // The time stands: a busy machine may take long for these.
  const present = performance.now();
  performance.now = () => present;
  const [first, ...others] = await Promise.all(Array.from({ length: 5 }, read));
  others.push(await read());
  performance.now = () => present + 999;
  others.push(await read());
  t.true(others.every((text) => text === first));
  t.is(made, 1);
  performance.now = () => present + 1000;
  t.not(await read(), first!);
  t.is(made, 2);
  registry.metrics = make;
  passTime(1000);
});

test.serial("no figure of a route grows with the statuses that it had", async (t) => {
  const lines = async () => {
    const names = [...(await scrape()).keys()].filter((name) => name.includes("_http_"));
    return names.filter((name) => name.includes('route="/api/v1/markets"')).length;
  };
  await call("GET", "/api/v1/markets");
  const before = await lines();
  await call("GET", "/api/v1/markets?sort=worst");
  await call("GET", "/api/v1/markets?category=nowhere");
  t.is(await lines(), before + 2);
  t.is(
    (await call("GET", "/metrics", { headers: { "x-forwarded-for": "127.0.0.1" } })).status,
    404,
  );
});
