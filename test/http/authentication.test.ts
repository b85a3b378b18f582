import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import { pino } from "pino";
import { createAuthenticator } from "../../src/http/authentication.ts";
import { formatApiKey, hashApiKey } from "../../src/database/api_key.ts";
import { databaseError, fakePool } from "./fake_pool.ts";

const logger = pino({ level: "silent" });
const newKey = () => formatApiKey(randomBytes(32));

/** A database that knows these keys. */
function databaseWith(keys: Map<string, string>, pauseMs = 0) {
  return fakePool({
    answer: async ({ name, values }) => {
      if (pauseMs > 0) await delay(pauseMs);
      if (name !== "authenticate") return [];
      const found = [...keys].find(([key]) => hashApiKey(key).equals(values[0] as Buffer));
      return found ? [{ userId: "user", apiKeyId: found[1] }] : [];
    },
  });
}

const named = (calls: { name: string }[], name: string) =>
  calls.filter((call) => call.name === name).length;

test("a malformed key is refused without asking the database", async (t) => {
  const { calls, pool } = databaseWith(new Map());
  const authenticator = createAuthenticator({ pool, logger });
  for (const garbage of ["", "jk_", newKey().slice(0, -1), `${newKey()}0`, "x".repeat(10_000)]) {
    t.is(await authenticator.callerOf(garbage), undefined);
  }
  t.deepEqual(calls, []);
});

test("a valid key is looked up once while it is cached, and again afterwards", async (t) => {
  const key = newKey();
  const caller = { userId: "user", apiKeyId: "id" };
  for (const [validForMs, questions] of [
    [60_000, 1],
    [20, 2],
  ] as const) {
    const { calls, pool } = databaseWith(new Map([[key, "id"]]));
    const authenticator = createAuthenticator({ pool, logger, validForMs });
    t.deepEqual(await authenticator.callerOf(key), caller);
    await delay(40);
    t.deepEqual(await authenticator.callerOf(key), caller);
    t.is(named(calls, "authenticate"), questions);
  }
});

test("an unknown key is looked up each time, so that a new key works at once", async (t) => {
  const key = newKey();
  const keys = new Map<string, string>();
  const { pool } = databaseWith(keys);
  const authenticator = createAuthenticator({ pool, logger });
  t.is(await authenticator.callerOf(key), undefined);
  keys.set(key, "id");
  t.like(await authenticator.callerOf(key), { apiKeyId: "id" });
});

test("requests with one key at the same time share a lookup", async (t) => {
  const key = newKey();
  const { calls, pool } = databaseWith(new Map([[key, "id"]]), 5);
  const authenticator = createAuthenticator({ pool, logger });
  await Promise.all(Array.from({ length: 20 }, () => authenticator.callerOf(key)));
  t.is(named(calls, "authenticate"), 1);
});

test("a key that is removed from the cache is looked up again, others are not", async (t) => {
  const [first, second] = [newKey(), newKey()];
  const keys = new Map([
    [first, "first"],
    [second, "second"],
  ]);
  const { calls, pool } = databaseWith(keys);
  const authenticator = createAuthenticator({ pool, logger });
  await authenticator.callerOf(first);
  await authenticator.callerOf(second);
  keys.delete(first);
  authenticator.forget("first");
  t.is(await authenticator.callerOf(first), undefined);
  await authenticator.callerOf(second);
  t.is(named(calls, "authenticate"), 3);
  authenticator.forgetAll();
  await authenticator.callerOf(second);
  t.is(named(calls, "authenticate"), 4);
});

test("a key that is removed from the cache during its lookup is not cached", async (t) => {
  const key = newKey();
  const keys = new Map([[key, "id"]]);
  const { pool } = databaseWith(keys, 10);
  const authenticator = createAuthenticator({ pool, logger });
  const asked = authenticator.callerOf(key);
  await delay(1);
  authenticator.forget("id");
  await asked;
  keys.delete(key);
  t.is(await authenticator.callerOf(key), undefined);
});

test("no more keys are cached than the cap", async (t) => {
  const keys = new Map(Array.from({ length: 4 }, (_, index) => [newKey(), String(index)]));
  const { calls, pool } = databaseWith(keys);
  const authenticator = createAuthenticator({ pool, logger, keyCap: 2 });
  for (const key of keys.keys()) await authenticator.callerOf(key);
  const [first, , , last] = [...keys.keys()];
  await authenticator.callerOf(last!);
  t.is(named(calls, "authenticate"), 4);
  await authenticator.callerOf(first!);
  t.is(named(calls, "authenticate"), 5);
});

test("a use is recorded once a minute, and a failure to record it has no effect", async (t) => {
  const key = newKey();
  const { calls, pool } = fakePool({
    answer: ({ name }) => {
      if (name === "record_key_use") throw databaseError("42501");
      return [{ userId: "user", apiKeyId: "id" }];
    },
  });
  const authenticator = createAuthenticator({ pool, logger });
  for (let count = 0; count < 3; count++) t.truthy(await authenticator.callerOf(key));
  await delay(5);
  t.is(named(calls, "record_key_use"), 1);
});
