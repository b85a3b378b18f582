import test from "ava";
import { testDatabase } from "../../helpers/database/test_database.ts";

const database = testDatabase(test);

interface Limit {
  cents: number | null;
  next?: number | null;
  changesAt?: string;
}

const now = "2040-01-02T12:00:00.000Z";
const inADay = "2040-01-03T12:00:00.000Z";
const later = "2040-01-03T06:00:00.000Z";
const earlier = "2040-01-02T11:00:00.000Z";

async function change(present: Limit, wanted: number | null, immediate = false): Promise<Limit> {
  const { rows } = await database.pool.query(
    `select c.* from risk.change_limit(
       $1::bigint, $2::bigint, $3::timestamptz, $4, $5, $6
     ) as c`,
    [present.cents, present.next ?? null, present.changesAt, wanted, immediate, now],
  );
  const { limit_cents: cents, next_limit_cents: next, changes_at: at } = rows[0];
  return at === null ? { cents } : { cents, next, changesAt: at.toISOString() };
}

test("a first limit and a lower one hold at once", async (t) => {
  t.deepEqual(await change({ cents: null }, 100), { cents: 100 });
  t.deepEqual(await change({ cents: 100 }, 99), { cents: 99 });
  t.deepEqual(await change({ cents: 100 }, 0), { cents: 0 });
});

test("a higher limit and no limit hold after 24 hours", async (t) => {
  t.deepEqual(await change({ cents: 100 }, 101), { cents: 100, next: 101, changesAt: inADay });
  t.deepEqual(await change({ cents: 0 }, null), { cents: 0, next: null, changesAt: inADay });
});

test("the same limit stays, and no limit stays no limit", async (t) => {
  t.deepEqual(await change({ cents: 100 }, 100), { cents: 100 });
  t.deepEqual(await change({ cents: null }, null), { cents: null });
});

test("immediate does not wait", async (t) => {
  t.deepEqual(await change({ cents: 100 }, 200, true), { cents: 200 });
  const waiting = { cents: 100, next: 200, changesAt: later };
  t.deepEqual(await change(waiting, null, true), { cents: null });
});

test("asked for again, a raise that waits goes on waiting as long as it had", async (t) => {
  const waiting = { cents: 100, next: 200, changesAt: later };
  t.deepEqual(await change(waiting, 200), waiting);
  const removal = { cents: 100, next: null, changesAt: later };
  t.deepEqual(await change(removal, null), removal);
});

test("another raise starts its wait anew", async (t) => {
  const waiting = { cents: 100, next: 200, changesAt: later };
  t.deepEqual(await change(waiting, 150), { cents: 100, next: 150, changesAt: inADay });
  t.deepEqual(await change(waiting, 300), { cents: 100, next: 300, changesAt: inADay });
  t.deepEqual(await change(waiting, null), { cents: 100, next: null, changesAt: inADay });
});

test("a lower limit, or the present one, cancels a waiting raise", async (t) => {
  const waiting = { cents: 100, next: 200, changesAt: later };
  t.deepEqual(await change(waiting, 50), { cents: 50 });
  t.deepEqual(await change(waiting, 100), { cents: 100 });
});

test("a raise holds from its time on", async (t) => {
  const raised = { cents: 100, next: 200, changesAt: earlier };
  t.deepEqual(await change(raised, 200), { cents: 200 });
  t.deepEqual(await change(raised, 150), { cents: 150 });
  t.deepEqual(await change(raised, 300), { cents: 200, next: 300, changesAt: inADay });
  const removed = { cents: 100, next: null, changesAt: now };
  t.deepEqual(await change(removed, 500), { cents: 500 });
  t.deepEqual(await change(removed, null), { cents: null });
});
