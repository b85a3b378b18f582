import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** api.spend_tokens, api.run_orders with payers, and admin.set_rate_policy. */

const exchange = testExchange(test, { sessions: 3 });
const { clock, makeTrader, makeTraders, operate } = exchange;

interface Payment {
  allowed: boolean | null;
  retry_after_seconds: number | null;
  requests_per_minute: number | null;
  burst_capacity: number | null;
  remaining: number | null;
}

/** A user who asks for one token, or for so many. */
type Asked = string | { user: string; count: number };

async function take(...requests: (Asked | null)[]): Promise<Payment[]> {
  const spendings = requests.map((asked) =>
    asked === null || typeof asked === "string" ? { user: asked, count: 1 } : asked,
  );
  const { rows } = await exchange.api.query(
    "select * from api.spend_tokens(user_ids => $1, counts => $2)",
    [spendings.map(({ user }) => user), spendings.map(({ count }) => count)],
  );
  return rows;
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

/** How many of so many requests, asked one by one, were let through. */
async function passing(count: number, asked: Asked): Promise<number> {
  let passed = 0;
  for (let number = 0; number < count; number++) {
    const [payment] = await take(asked);
    if (payment!.allowed === true) passed += 1;
  }
  return passed;
}

test.serial.beforeEach("noon", async () => {
  await clock.freeze("2030-01-01T12:00:00Z");
});

test.serial("tokens are taken by count, all or none, with the exact wait", async (t) => {
  const user = await makeTrader();
  const asked = (count: number) => ({ user, count });
  const seen = async (...counts: number[]) =>
    (await take(...counts.map(asked))).map((outcome) => [
      ...[outcome.allowed, outcome.remaining, outcome.retry_after_seconds],
    ]);
  t.deepEqual(await seen(4, 7, 6, 1), [
    [true, 6, null],
    [false, 6, 1],
    [true, 0, null],
    [false, 0, 1],
  ]);
  // Two a second come back.
  t.deepEqual(await seen(9), [[false, 0, 5]]);
  await clock.advance(4499);
  t.deepEqual(await seen(9), [[false, 8, 1]]);
  await clock.advance(1);
  t.deepEqual(await seen(9), [[true, 0, null]]);
});

test.serial("a burst, then the sustained rate, and never more than the burst", async (t) => {
  const asked = await makeTrader();
  const burst = await take(...times(11, asked));
  t.deepEqual(
    burst.map(({ remaining }) => remaining),
    [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0],
  );
  t.deepEqual(burst[10], {
    allowed: false,
    retry_after_seconds: 1,
    requests_per_minute: 120,
    burst_capacity: 10,
    remaining: 0,
  });
  await clock.advance(499);
  t.is(await passing(2, asked), 0);
  await clock.advance(1);
  t.is(await passing(2, asked), 1);
  await clock.advance(1750);
  const [third] = await take(asked);
  t.is(third!.remaining, 2);
  await clock.advance(3_600_000);
  t.is(await passing(20, asked), 10);
});

test.serial("120 a minute are 120 a minute, whatever the steps", async (t) => {
  const asked = await makeTrader();
  t.is(await passing(11, asked), 10);
  let passed = 0;
  for (let step = 0; step < 180; step++) {
    await clock.advance(1000 / 3);
    passed += await passing(2, asked);
  }
  // A step is 333.333 ms to the microsecond, so the last token is not quite there.
  t.is(passed, 119);
});

test.serial("after the clock was set back, tokens come back from the new time on", async (t) => {
  const user = await makeTrader();
  t.is(await passing(11, user), 10);
  for (const earlier of ["2030-01-01T11:59:58Z", "2030-01-01T11:00:00Z"]) {
    await clock.freeze(earlier);
    const [refused] = await take(user);
    t.deepEqual([refused!.allowed, refused!.retry_after_seconds], [false, 1]);
    await clock.advance(499);
    t.is(await passing(2, user), 0);
    await clock.advance(1);
    t.is(await passing(2, user), 1, earlier);
    await clock.advance(1500);
    t.is(await passing(9, user), 3, earlier);
  }
});

test.serial("policies hold at once, and end with their time", async (t) => {
  const user_id = await makeTrader();
  const asked = user_id;
  const policy = (tier: string, values: object = {}) =>
    operate("set_rate_policy", { user_id, tier, ...values });
  const limits = async () => {
    const { rows } = await exchange.api.query("select api.get_rate_limits(user_id => $1) as body", [
      user_id,
    ]);
    return rows[0].body;
  };
  const standard = {
    tier: "standard",
    requestsPerMinute: 120,
    burstCapacity: 10,
    expiresAt: null,
  };
  t.deepEqual(await limits(), { read: { limit: 120, windowSeconds: 60 }, trading: standard });

  t.is(await passing(99, asked), 10);
  await policy("elevated", { expires_at: "2030-01-01T12:00:10Z" });
  t.deepEqual((await limits()).trading, {
    tier: "elevated",
    requestsPerMinute: 600,
    burstCapacity: 50,
    expiresAt: "2030-01-01T12:00:10.000Z",
  });
  t.is(await passing(99, asked), 40, "ten were spent");
  await clock.advance(9999);
  const [last] = await take(asked);
  t.is(last!.requests_per_minute, 600);
  await clock.advance(1);
  t.deepEqual((await limits()).trading, standard);
  t.is((await take(asked))[0]!.burst_capacity, 10);

  await policy("custom", { requests_per_minute: 1, burst_capacity: 1 });
  const [refused] = await take(asked);
  t.deepEqual([refused!.allowed, refused!.requests_per_minute], [false, 1]);
  await clock.advance(refused!.retry_after_seconds! * 1000);
  t.is(await passing(2, asked), 1);
  const [later] = await take(asked);
  t.is(later!.retry_after_seconds, 60);

  await policy("custom", { requests_per_minute: 1_000_000, burst_capacity: 1_000_000 });
  t.deepEqual((await take(asked))[0], {
    allowed: true,
    retry_after_seconds: null,
    requests_per_minute: 1_000_000,
    burst_capacity: 1_000_000,
    remaining: 999_998,
  });
  await policy("standard");
  t.deepEqual((await limits()).trading, standard);
});

for (const [what, values] of [
  ["an unknown tier", { tier: "gold" }],
  ["no tier", { tier: null }],
  ["a custom one without figures", { tier: "custom", requests_per_minute: 5 }],
  ["a rate of 0", { tier: "custom", requests_per_minute: 0, burst_capacity: 1 }],
  ["a burst above a million", { tier: "elevated", burst_capacity: 1_000_001 }],
  ["figures for the standard one", { tier: "standard", burst_capacity: 20 }],
] as const) {
  test.serial(`INVALID_REQUEST: a rate policy with ${what}`, async (t) => {
    const user_id = await makeTrader();
    await t.throwsAsync(operate("set_rate_policy", { user_id, ...values }), { code: "EX001" });
  });
}

test.serial("users in one call: each has a bucket, and null pays nothing", async (t) => {
  const [one, two] = await makeTraders(2);
  const asked = [{ user: one, count: 9 }, null, two, one, one, { user: two, count: 9 }, two];
  const payments = await take(...asked);
  t.deepEqual(
    payments.map(({ allowed, remaining }) => [allowed, remaining]),
    [
      [true, 1],
      [true, null],
      [true, 9],
      [true, 0],
      [false, 0],
      [true, 0],
      [false, 0],
    ],
  );
});

test.serial("more than the burst: no wait is enough, and nothing is taken", async (t) => {
  const user = await makeTrader();
  t.deepEqual(await take({ user, count: 11 }), [
    {
      ...{ allowed: false, retry_after_seconds: null },
      ...{ requests_per_minute: 120, burst_capacity: 10, remaining: 10 },
    },
  ]);
  await t.throwsAsync(take({ user, count: 0 }), { code: "EX001" });
});

test.serial("a locked bucket is waited for by nobody, and no other user notices", async (t) => {
  const [market, locked, other] = await exchange.makeMarketWith(2);
  await take(locked);
  const client = await exchange.database.pool.connect();
  t.teardown(() => {
    client.release();
  });
  await client.query("begin");
  await client.query("select from rate_limits.allowances where user_id = $1 for update", [locked]);
  const noPayment = { retry_after_seconds: null, remaining: null };
  t.like(await take(locked, other), [
    { allowed: null, ...noPayment },
    { allowed: true, remaining: 9 },
  ]);

  const orders = [locked, other, locked].map((user) => ({
    ...{ userId: user, marketId: market, side: "yes", price: 40, quantity: 1 },
  }));
  const run = async (payers: (string | null)[]) =>
    (
      await exchange.api.query("select * from api.run_orders(orders => $1, payers => $2)", [
        JSON.stringify(orders.slice(0, payers.length)),
        payers,
      ])
    ).rows;
  t.like(await run([locked, other]), [
    { code: "AGAIN", ...noPayment },
    { code: null, remaining: 8 },
  ]);
  t.like(await run([null, other]), [
    { code: null, ...noPayment },
    { code: null, remaining: 7 },
  ]);
  t.like(
    await run([locked, other, null]),
    [
      { code: "AGAIN", ...noPayment },
      { code: null, remaining: 6 },
      { code: "AGAIN", ...noPayment },
    ],
    "an order that is paid for overtakes none of its user that is not",
  );
  await client.query("rollback");
  t.like(await run([locked, other]), [
    { code: null, remaining: 8 },
    { code: null, remaining: 5 },
  ]);
});

test.serial("an order without a token is not placed; a rejected one has paid", async (t) => {
  const [market, poor, rich] = await exchange.makeMarketWith(2);
  const order = (userId: string, price: number) => ({
    ...{ userId, marketId: market, side: "yes", price, quantity: 1 },
  });
  await take({ user: poor, count: 9 });
  const { rows } = await exchange.api.query(
    "select * from api.run_orders(orders => $1, payers => $2)",
    [JSON.stringify([order(poor, 0), order(poor, 40), order(rich, 41)]), [poor, poor, rich]],
  );
  t.like(rows, [
    { code: "INVALID_REQUEST", remaining: 0, retry_after_seconds: null },
    { code: "TOO_MANY_REQUESTS", remaining: 0, retry_after_seconds: 1, body: null },
    { code: null, remaining: 9 },
  ]);
  t.like(JSON.parse(rows[2].body).order, { userId: rich, price: 41 });
  const placed = await exchange.database.pool.query(
    "select price from trading.orders as o join identity.users as u on u.id = o.user_id " +
      "where u.public_id = any ($1)",
    [[poor, rich]],
  );
  t.deepEqual(
    placed.rows.map(({ price }) => price),
    [41],
  );
});

test.serial("an order without a token locks nothing", async (t) => {
  const [poor, rich] = await makeTraders(2);
  const markets = [await exchange.makeMarket(), await exchange.makeMarket()];
  await take({ user: poor, count: 10 });
  const orders = [poor, rich].map((userId, index) => ({
    ...{ userId, marketId: markets[index], side: "yes", price: 40, quantity: 200 },
    timeInForce: index === 0 ? "fok" : "gtc",
  }));
  const client = await exchange.database.pool.connect();
  t.teardown(() => {
    client.release();
  });
  await client.query("begin");
  const { rows } = await client.query(
    "select code from api.run_orders(orders => $1, payers => $2, waits => false)",
    [JSON.stringify(orders), [poor, rich]],
  );
  t.deepEqual(
    rows.map(({ code }) => code),
    ["TOO_MANY_REQUESTS", null],
  );
  const locks = await client.query(
    `select count(*)::int as count from pg_locks
     where locktype = 'advisory' and pid = pg_backend_pid()`,
  );
  t.is(locks.rows[0].count, 1, "the other market");
  await client.query("rollback");
});

test.serial("nobody pays for no orders", async (t) => {
  const { rows } = await exchange.api.query(
    "select from api.run_orders(orders => '[]', payers => '{}')",
  );
  t.is(rows.length, 0);
});
