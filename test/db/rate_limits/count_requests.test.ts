import { randomUUID } from "node:crypto";
import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { randomFrom } from "../../helpers/random.ts";

/** api.count_requests and admin.set_rate_limit. */

const exchange = testExchange(test, { sessions: 3 });
const { clock, makeTrader, operate } = exchange;

interface Outcome {
  allowed: boolean;
  retry_after_seconds: number | null;
  windows: { bucket: string; quota: number; seconds: number; remaining: number }[] | null;
}

type Asked = Record<string, string | { subject: string; count: number }>;

async function take(...requests: Asked[]): Promise<Outcome[]> {
  const { rows } = await exchange.api.query("select * from api.count_requests(requests => $1)", [
    JSON.stringify(requests),
  ]);
  return rows;
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

/** How many of so many requests, asked one by one, were let through. */
async function passing(count: number, asked: Asked): Promise<number> {
  let passed = 0;
  for (let number = 0; number < count; number++) {
    const [outcome] = await take(asked);
    if (outcome!.allowed) passed += 1;
  }
  return passed;
}

const setLimit = (bucket: string, max_requests: number, window_seconds = 60) =>
  operate("set_rate_limit", { bucket, max_requests, window_seconds });

const count = async (table: string) =>
  (await exchange.database.pool.query(`select count(*) from rate_limits.${table}`)).rows[0].count;

test.serial.beforeEach("noon", async () => {
  await clock.freeze("2030-01-01T12:00:00Z");
});

test.serial("the buckets have the limits of the contract", async (t) => {
  const { rows } = await exchange.database.pool.query(
    "select * from rate_limits.buckets order by 1",
  );
  t.deepEqual(
    rows.map((row) => `${row.bucket}: ${row.max_requests} in ${row.window_seconds} s`).sort(),
    [
      ...["graphql: 600 in 60 s", "mail-account: 5 in 3600 s", "mail: 60 in 3600 s"],
      ...["sign-in-account: 10 in 900 s", "sign-in-strangers: 100 in 900 s"],
      ...["sign-in: 30 in 900 s", "sign-up: 10 in 3600 s", "sse:market: 120 in 60 s"],
      ...["sse:user-ip: 120 in 60 s", "sse:user: 30 in 60 s", "unknown-key: 120 in 60 s"],
      ...["v1-auth: 120 in 60 s", "v1-cancel-all: 60 in 60 s", "v1-user: 120 in 60 s"],
      "v1: 60 in 60 s",
    ],
  );
});

test.serial(
  "a window rolls: each request leaves it when its time is over, not before",
  async (t) => {
    const asked = { v1: "rolling" };
    t.is(await passing(20, asked), 20);
    await clock.advance(30_000);
    t.is(await passing(50, asked), 40);
    const [refused] = await take(asked);
    t.deepEqual([refused!.allowed, refused!.retry_after_seconds], [false, 30]);
    await clock.advance(29_999);
    t.deepEqual((await take(asked))[0], { ...refused!, retry_after_seconds: 1 });
    await clock.advance(1);
    t.is(await passing(30, asked), 20, "the first twenty have left, refused ones never counted");
    await clock.advance(29_999);
    t.is(await passing(1, asked), 0);
    await clock.advance(1);
    t.is(await passing(50, asked), 40);
  },
);

test.serial("a batch is counted as its requests would be, in their order", async (t) => {
  await setLimit("v1", 3);
  t.teardown(() => setLimit("v1", 60));
  const outcomes = await take(...times(2, { v1: "a" }), { v1: "b" }, ...times(2, { v1: "a" }), {
    v1: "b",
  });
  t.deepEqual(
    outcomes.map(({ allowed }) => allowed),
    [true, true, true, true, false, true],
  );
  t.is(outcomes[4]!.retry_after_seconds, 60);
});

test.serial("of two buckets, what one refuses is not counted by the other", async (t) => {
  await setLimit("v1-user", 2);
  await setLimit("v1-auth", 3);
  t.teardown(async () => {
    await setLimit("v1-user", 120);
    await setLimit("v1-auth", 120);
  });
  const [ann, bob] = [randomUUID(), randomUUID()];
  const of = (user: string) => ({ "v1-auth": "both", "v1-user": user });
  t.is(await passing(9, of(ann)), 2, "the user's is used up, and took nothing of the address's");
  t.is(await passing(9, of(bob)), 1, "now the address's is used up");
  await setLimit("v1-auth", 4);
  t.is(await passing(9, of(bob)), 1, "it took nothing of the user's");
  const together = await take(of(ann), of(bob), { "v1-auth": "other", "v1-user": bob });
  t.deepEqual(
    together.map(({ allowed }) => allowed),
    [false, false, false],
  );
});

test.serial("Retry-After is kept: waiting so long is enough, one second less is not", async (t) => {
  await setLimit("v1", 5, 7);
  t.teardown(() => setLimit("v1", 60));
  const asked = { v1: "waiting" };
  for (const milliseconds of [0, 311, 1, 2500, 42]) {
    await clock.advance(milliseconds);
    t.is(await passing(1, asked), 1);
  }
  for (let round = 0; round < 12; round++) {
    const [refused] = await take(asked);
    if (refused!.allowed) continue;
    const seconds = refused!.retry_after_seconds!;
    t.true(seconds >= 1 && seconds <= 7);
    await clock.advance((seconds - 1) * 1000);
    t.is(await passing(1, asked), 0);
    await clock.advance(1000);
    t.is(await passing(1, asked), 1);
  }
});

test.serial("random requests pass as a list of all request times would allow", async (t) => {
  await setLimit("v1", 10, 5);
  t.teardown(() => setLimit("v1", 60));
  const asked = { v1: "random" };
  const { anyOf, between } = randomFrom("requests");
  const at: number[] = [];
  let now = 0;
  for (let round = 0; round < 150; round++) {
    const step = anyOf([0, 0, 137, 700, 2000]);
    now += step;
    await clock.advance(step);
    const outcomes = await take(...times(between(1, 4), asked));
    for (const [index, { allowed }] of outcomes.entries()) {
      const room = at.filter((time) => time > now - 5000).length < 10;
      t.is(allowed, room, `at ${now} ms, request ${index}`);
      if (room) at.push(now);
    }
  }
  t.true(at.length > 50, `${at.length} passed`);
});

test.serial("random counts pass exactly as so many requests at once, all or none", async (t) => {
  await setLimit("v1", 10, 5);
  t.teardown(() => setLimit("v1", 60));
  const { anyOf, between } = randomFrom("counts");
  const roomAt = (at: number[], now: number) => 10 - at.filter((time) => time > now - 5000).length;
  const at: number[] = [];
  let [now, waited] = [0, 0];
  for (let round = 0; round < 120; round++) {
    const step = anyOf([0, 137, 700, 2000]);
    now += step;
    await clock.advance(step);
    const counts = times(between(1, 3), 0).map(() => between(1, 6));
    const outcomes = await take(...counts.map((count) => ({ v1: { subject: "counts", count } })));
    for (const [index, { allowed, retry_after_seconds }] of outcomes.entries()) {
      const count = counts[index]!;
      t.is(allowed, roomAt(at, now) >= count, `${count} at ${now} ms`);
      if (allowed) at.push(...times(count, now));
      else {
        let seconds = 0;
        while (roomAt(at, now + seconds * 1000) < count) seconds++;
        t.is(retry_after_seconds, seconds, `${count} at ${now} ms`);
        waited++;
      }
    }
  }
  t.true(at.length > 50 && waited > 20, `${at.length} passed, ${waited} were rejected`);
});

test.serial("windows: what each rolling one of a request has left, by bucket", async (t) => {
  const subject = await makeTrader();
  const asked = (count: number) => ({
    "v1-user": { subject, count },
    "v1-auth": "windows",
  });
  const windowsOf = (user: number, address: number) => [
    { bucket: "v1-auth", quota: 120, seconds: 60, remaining: address },
    { bucket: "v1-user", quota: 120, seconds: 60, remaining: user },
  ];
  const outcomes = await take(asked(100), asked(30), asked(20));
  t.deepEqual(
    outcomes.map(({ allowed, windows }) => ({ allowed, windows })),
    [
      { allowed: true, windows: windowsOf(20, 119) },
      { allowed: false, windows: windowsOf(20, 119) },
      { allowed: true, windows: windowsOf(0, 118) },
    ],
  );
});

test.serial("more than the limit ever allows: no wait is enough, and nothing counts", async (t) => {
  const subject = await makeTrader();
  const [both] = await take({
    "v1-user": { subject, count: 121 },
    "v1-auth": { subject: "many", count: 1 },
  });
  t.deepEqual([both!.allowed, both!.retry_after_seconds], [false, null]);
  t.is(await passing(121, { "v1-auth": "many" }), 120);
  await t.throwsAsync(take({ v1: { subject: "none", count: 0 } }), { code: "23514" });
});

test.serial("a changed limit holds at once, for what was asked before too", async (t) => {
  t.teardown(() => setLimit("v1", 60));
  const asked = { v1: "changing" };
  for (let second = 0; second < 6; second++) {
    t.is(await passing(5, asked), 5);
    await clock.advance(1000);
  }
  await setLimit("v1", 32);
  t.is(await passing(5, asked), 2);
  await setLimit("v1", 12);
  const [refused] = await take(asked);
  t.is(refused!.retry_after_seconds, 58, "21 must leave: those of the first four seconds and one");
  await clock.advance(57_999);
  t.is(await passing(5, asked), 0);
  await clock.advance(1);
  t.is(await passing(12, asked), 5);
  await setLimit("v1", 12, 2);
  t.is(await passing(12, asked), 7, "in a narrower window");
});

test.serial("INVALID_REQUEST, NOT_FOUND: impossible limits", async (t) => {
  await t.throwsAsync(setLimit("v1", 0), { code: "EX001" });
  await t.throwsAsync(setLimit("v1", 10, 0), { code: "EX001" });
  await t.throwsAsync(setLimit("v1-trading", 10), { code: "EX017" });
  await t.throwsAsync(operate("set_rate_policy", { user_id: randomUUID(), tier: "standard" }), {
    code: "EX017",
  });
  await t.throwsAsync(take({ v1: "a" }, { v2: "a" }), { code: "EX017" });
});

test.serial("counters that no longer count are removed, and no others", async (t) => {
  const { pool } = exchange.database;
  await pool.query("truncate rate_limits.windows, rate_limits.grants, rate_limits.allowances");
  const remove = async (most = 1000) =>
    (await pool.query("select jobs.remove_counters(most => $1) as count", [most])).rows[0].count;
  const trader = await makeTrader();
  for (let step = 0; step < 100; step++) {
    await take({ v1: "often" });
    await exchange.api.query("select api.spend_tokens(user_ids => $1, counts => '{1}')", [
      [trader],
    ]);
    await clock.advance(5000);
  }
  t.true((await count("grants")) <= 2 * 12 + 1, "of a busy counter two windows at most");

  await take({ v1: "now" }, { v1: "too" });
  await clock.advance(59_999);
  t.is(await passing(60, { v1: "often" }), 60);
  t.is(await remove(), 0);
  await clock.advance(60_001);
  t.is(await remove(1), 2, "a window that was asked once, and the token bucket");
  t.is(await remove(), 1, "the other such window");
  t.is(await count("windows"), 1, "the busy one still counts");
  await clock.advance(60_000);
  t.is(await remove(), 1);
  t.deepEqual(
    [await count("windows"), await count("grants"), await count("allowances")],
    [0, 0, 0],
  );
});

test.serial("a clock that is set back refuses no request because of later times", async (t) => {
  const asked = { v1: "clock" };
  await clock.advance(86_400_000);
  t.is(await passing(70, asked), 60);
  await clock.freeze("2030-01-01T12:00:00Z");
  t.is(await passing(70, asked), 60);
  await clock.advance(60_000);
  t.is(await passing(70, asked), 60);
  await clock.freeze("2030-01-02T12:00:00Z");
  t.is(await passing(70, asked), 60, "nothing is left of it either when its time comes again");
});
