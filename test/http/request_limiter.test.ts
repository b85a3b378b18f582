import test from "ava";
import { createRequestLimiter } from "../../src/http/request_limiter.ts";
import { databaseError, fakePool } from "./fake_pool.ts";

const row = (retryAfterSeconds: number | null) => ({
  allowed: retryAfterSeconds === null,
  retryAfterSeconds,
  requestsPerMinute: null,
  burstCapacity: null,
  remaining: null,
});

const asked = (values: unknown[]) => JSON.parse(values[0] as string) as { v1: string }[];

/** A database that refuses the address "busy", and answers when it is let. */
function slowDatabase() {
  let letGo = () => {};
  const { calls, pool } = fakePool({
    answer: async ({ values }) => {
      await new Promise<void>((resolve) => (letGo = resolve));
      return asked(values).map(({ v1 }) => row(v1 === "busy" ? 7 : null));
    },
  });
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  return {
    pool,
    batches: () => calls.map(({ values }) => asked(values).map(({ v1 }) => v1)),
    next: async () => {
      await tick();
      letGo();
      await tick();
    },
  };
}

test("requests that come during a call are counted together by the next call", async (t) => {
  const { batches, next, pool } = slowDatabase();
  const { take } = createRequestLimiter({ pool, batchCap: 3 });
  const first = take({ v1: "a" });
  await new Promise((resolve) => setImmediate(resolve));
  const later = ["b", "busy", "c", "d"].map((v1) => take({ v1 }));
  for (let call = 0; call < 3; call++) await next();
  t.deepEqual(batches(), [["a"], ["b", "busy", "c"], ["d"]]);
  t.true((await first).allowed);
  const outcomes = await Promise.all(later);
  t.deepEqual(
    outcomes.map((taken) => (taken.allowed ? 0 : taken.retryAfterSeconds)),
    [0, 7, 0, 0],
  );
});

test("a failed call fails its requests, and the next call goes on", async (t) => {
  let broken = true;
  const { pool } = fakePool({
    answer: ({ values }) => {
      if (broken) throw databaseError("42883");
      return asked(values).map(() => row(null));
    },
  });
  const { take } = createRequestLimiter({ pool });
  await t.throwsAsync(take({ v1: "a" }), { code: "42883" });
  broken = false;
  t.true((await take({ v1: "a" })).allowed);
});

test("when the connection is lost, the request itself has not begun", async (t) => {
  const { pool } = fakePool({
    answer: () => {
      throw new Error("Connection terminated unexpectedly");
    },
  });
  const { take } = createRequestLimiter({ pool, retries: { attempts: 2, backoffMs: 1 } });
  await t.throwsAsync(take({ v1: "a" }), { name: "DatabaseFailure", message: /unreachable/ });
});

test("without a connection all waiting requests fail", async (t) => {
  const { pool } = fakePool({
    answer: () => [],
    connect: () => Promise.reject(new Error("timeout")),
  });
  const { take } = createRequestLimiter({ pool, retries: { attempts: 1 } });
  const outcomes = await Promise.allSettled([take({ v1: "a" }), take({ v1: "b" })]);
  t.deepEqual(
    outcomes.map(({ status }) => status),
    ["rejected", "rejected"],
  );
});

test("requests beyond the cap of the queue are rejected", async (t) => {
  const { next, pool } = slowDatabase();
  const { take } = createRequestLimiter({ pool, waitingCap: 1 });
  const first = take({ v1: "a" });
  await new Promise((resolve) => setImmediate(resolve));
  const second = take({ v1: "b" });
  await t.throwsAsync(take({ v1: "c" }), { name: "DatabaseFailure", message: /overloaded/ });
  await next();
  await next();
  t.true((await first).allowed && (await second).allowed);
});
