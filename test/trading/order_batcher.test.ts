import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import type { OrderRequest } from "../../src/database/api.ts";
import { createOrderBatcher } from "../../src/trading/order_batcher.ts";
import { databaseError, fakePool } from "../http/fake_pool.ts";
import type { FakeCall } from "../http/fake_pool.ts";

const retries = { backoffMs: 1, patienceMs: 60_000 };
const market = "01900000-0000-7000-8000-000000000001";

const order = (price: number): OrderRequest => ({ userId: "u", side: "yes", price, quantity: 1 });

const pricesOf = (call: FakeCall): number[] =>
  JSON.parse(String(call.values[1])).map((request: { price: number }) => request.price);

/** Accepts everything; the body tells which request it answers. */
const accept = (call: FakeCall) =>
  pricesOf(call).map((price) => ({
    code: null,
    message: null,
    replayed: false,
    body: String(price),
  }));

const kindOf = (error: unknown) => (error as { kind?: string }).kind;

test("a single order of an idle market goes at once, alone", async (t) => {
  const { calls, pool } = fakePool({ answer: accept });
  const batcher = createOrderBatcher({ slowMs: Infinity, pool });
  t.is((await batcher.place(market, order(50))).body, "50");
  t.is((await batcher.place(market, order(51))).body, "51");
  t.deepEqual(calls.map(pricesOf), [[50], [51]]);
});

test("what arrives while the market is busy goes together, in order, up to the cap", async (t) => {
  const { calls, pool } = fakePool({
    answer: async (call) => {
      await delay(5);
      return accept(call);
    },
  });
  const batcher = createOrderBatcher({ slowMs: Infinity, pool, batchCap: 3 });
  const first = batcher.place(market, order(1));
  await delay(1);
  const later = [2, 3, 4, 5, 6].map((price) => batcher.place(market, order(price)));
  const outcomes = await Promise.all([first, ...later]);
  t.deepEqual(
    outcomes.map((outcome) => outcome.body),
    ["1", "2", "3", "4", "5", "6"],
  );
  t.deepEqual(calls.map(pricesOf), [[1], [2, 3, 4], [5, 6]]);
});

test("markets don't wait for each other", async (t) => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  const { pool } = fakePool({
    answer: async (call) => {
      if (call.values[0] === "slow") await gate;
      return accept(call);
    },
  });
  const batcher = createOrderBatcher({ slowMs: Infinity, pool });
  const slow = batcher.place("slow", order(1));
  t.is((await batcher.place("fast", order(2))).body, "2");
  open();
  t.is((await slow).body, "1");
});

for (const code of ["40001", "40P01", "55P03"]) {
  test(`${code}: the whole batch is made again, and the client sees nothing of it`, async (t) => {
    let failures = 2;
    const { calls, destroyed, pool } = fakePool({
      answer: (call) => {
        if (failures-- > 0) throw databaseError(code);
        return accept(call);
      },
    });
    const batcher = createOrderBatcher({ slowMs: Infinity, pool, retries });
    const outcomes = await Promise.all([1, 2].map((price) => batcher.place(market, order(price))));
    t.deepEqual(
      outcomes.map((outcome) => outcome.body),
      ["1", "2"],
    );
    t.deepEqual(calls.map(pricesOf), [
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
    // The session is as good as before.
    t.is(destroyed(), 0);
  });

  test(`${code} again and again: every request of the batch is told so`, async (t) => {
    const { calls, pool } = fakePool({
      answer: () => {
        throw databaseError(code);
      },
    });
    const batcher = createOrderBatcher({
      slowMs: Infinity,
      pool,
      retries: { ...retries, attempts: 3 },
    });
    const results = await Promise.allSettled([1, 2].map((p) => batcher.place(market, order(p))));
    t.deepEqual(
      results.map((result) => result.status === "rejected" && kindOf(result.reason)),
      ["conflict", "conflict"],
    );
    t.is(calls.length, 3);
  });
}

test("no connection to be had: all that wait are told at once, and later ones are served", async (t) => {
  let down = true;
  let attempts = 0;
  const { calls, pool } = fakePool({
    answer: accept,
    connect: async () => {
      attempts += 1;
      await delay(1);
      if (down) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    },
  });
  const batcher = createOrderBatcher({
    slowMs: Infinity,
    pool,
    batchCap: 2,
    retries: { ...retries, attempts: 3 },
  });
  const prices = [1, 2, 3, 4, 5];
  const results = await Promise.allSettled(prices.map((p) => batcher.place(market, order(p))));
  t.deepEqual(
    results.map((result) => result.status === "rejected" && kindOf(result.reason)),
    prices.map(() => "unreachable"),
  );
  t.is(attempts, 3);
  t.is(calls.length, 0);
  down = false;
  t.is((await batcher.place(market, order(6))).body, "6");
});

for (const [name, failure] of [
  ["connection terminated", new Error("Connection terminated unexpectedly")],
  ["session ended by an administrator", databaseError("57P01", "FATAL")],
  ["session ended, said in another language", databaseError("57P01", "FATALE")],
  ["socket error", Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })],
] as const) {
  test(`${name} under way: the outcome is unknown, and the call is not made again`, async (t) => {
    const { calls, pool } = fakePool({
      answer: () => {
        throw failure;
      },
    });
    const batcher = createOrderBatcher({ slowMs: Infinity, pool, retries });
    const results = await Promise.allSettled([1, 2].map((p) => batcher.place(market, order(p))));
    t.deepEqual(
      results.map((result) => result.status === "rejected" && kindOf(result.reason)),
      ["lost", "lost"],
    );
    t.is(calls.length, 1);
  });
}

test("one poisonous request fails alone; those around it are placed, in order", async (t) => {
  const { calls, pool } = fakePool({
    answer: (call) => {
      if (pricesOf(call).includes(2)) throw databaseError("22P02");
      return accept(call);
    },
  });
  const batcher = createOrderBatcher({ slowMs: Infinity, pool, retries });
  const results = await Promise.allSettled([1, 2, 3].map((p) => batcher.place(market, order(p))));
  t.deepEqual(
    results.map((result) => (result.status === "fulfilled" ? result.value.body : "failed")),
    ["1", "failed", "3"],
  );
  t.deepEqual(calls.map(pricesOf), [[1, 2, 3], [1], [2], [3]]);
});

test("outcomes that don't match the requests are nobody's, and nothing is placed twice", async (t) => {
  const { calls, pool } = fakePool({ answer: (call) => accept(call).slice(1) });
  const batcher = createOrderBatcher({ slowMs: Infinity, pool, retries });
  const results = await Promise.allSettled([1, 2].map((p) => batcher.place(market, order(p))));
  t.true(results.every((result) => result.status === "rejected"));
  t.is(calls.length, 1);
});

test("beyond the cap on waiting orders new ones are turned away, and room comes back", async (t) => {
  const { pool } = fakePool({
    answer: async (call) => {
      await delay(5);
      return accept(call);
    },
  });
  const batcher = createOrderBatcher({ slowMs: Infinity, pool, waitingCap: 2 });
  const first = batcher.place(market, order(1));
  await delay(1); // it is under way, so it doesn't wait any more
  const waiting = [2, 3].map((price) => batcher.place(market, order(price)));
  const error = await t.throwsAsync(batcher.place(market, order(4)));
  t.is(kindOf(error), "overloaded");
  await Promise.all([first, ...waiting]);
  t.is((await batcher.place(market, order(5))).body, "5");
});

test("drained waits for what waits and for what is under way", async (t) => {
  const { pool } = fakePool({
    answer: async (call) => {
      await delay(5);
      return accept(call);
    },
  });
  const batcher = createOrderBatcher({ slowMs: Infinity, pool, batchCap: 1 });
  let answered = 0;
  const orders = [1, 2, 3].map(async (price) => {
    await batcher.place(market, order(price));
    answered += 1;
  });
  await batcher.drained();
  t.is(answered, 3);
  await Promise.all(orders);
  await batcher.drained();
});

/** Says of the orders at this price that they are not finished, so many times. */
const unfinished = (price: number, times: number) => (call: FakeCall) =>
  accept(call).map((outcome) =>
    outcome.body === String(price) && times-- > 0
      ? { ...outcome, code: "CONFLICT_RETRY", body: null }
      : outcome,
  );

test("CONFLICT_RETRY as an outcome: the order is placed again, the others have theirs", async (t) => {
  const { calls, pool } = fakePool({ answer: unfinished(2, 2) });
  const batcher = createOrderBatcher({ slowMs: Infinity, pool });
  const first = batcher.place(market, order(1));
  const outcomes = await Promise.all([
    first,
    ...[2, 3].map((p) => batcher.place(market, order(p))),
  ]);
  t.deepEqual(
    outcomes.map(({ code, body }) => [code, body]),
    [
      [null, "1"],
      [null, "2"],
      [null, "3"],
    ],
  );
  t.deepEqual(calls.map(pricesOf), [[1, 2, 3], [2], [2]]);
  await batcher.drained();
});

test("CONFLICT_RETRY as an outcome is the answer once the time for repeating is over", async (t) => {
  const { calls, pool } = fakePool({ answer: unfinished(2, 1000) });
  const batcher = createOrderBatcher({ slowMs: Infinity, pool, unfinishedForMs: 0 });
  t.is((await batcher.place(market, order(2))).code, "CONFLICT_RETRY");
  t.is(calls.length, 1);
});
