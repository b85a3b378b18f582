import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import { pino } from "pino";
import { createAuthenticator } from "../../src/http/authentication.ts";
import { formatSecret, sha256Of } from "../../src/secrets.ts";
import { databaseError, fakePool } from "./fake_pool.ts";

const logger = pino({ level: "silent" });
const newKey = () => formatSecret(randomBytes(32), "jk_");

const scopes = ["read"];
const callerWith = (apiKeyId: string) => ({ userId: "user", apiKeyId, scopes });
const here = "192.0.2.1";

/** A database that knows these keys. */
function databaseWith(keys: Map<string, string>, { pauseMs = 0, validForMs = 5000 } = {}) {
  return fakePool({
    answer: async ({ name, values }) => {
      if (pauseMs > 0) await delay(pauseMs);
      if (name !== "authenticate") return [];
      return (values[1] as Buffer[]).map((hash) => {
        const found = [...keys].find(([key]) => sha256Of(key).equals(hash));
        const caller = found && JSON.stringify({ ...callerWith(found[1]), validForMs });
        return { value: caller ?? null };
      });
    },
  });
}

const named = (calls: { name: string }[], name: string) =>
  calls.filter((call) => call.name === name).length;

test("a malformed key is refused without asking the database", async (t) => {
  const { calls, pool } = databaseWith(new Map());
  const authenticator = createAuthenticator({ pool, logger });
  for (const garbage of ["", "jk_", newKey().slice(0, -1), `${newKey()}0`, "x".repeat(10_000)]) {
    t.is(await authenticator.callerOf(garbage, here), undefined);
  }
  t.deepEqual(calls, []);
});

test("a valid key is looked up once while it is cached, and again afterwards", async (t) => {
  const key = newKey();
  const caller = callerWith("id");
  for (const [validForMs, questions] of [
    [60_000, 1],
    [20, 2],
  ] as const) {
    const { calls, pool } = databaseWith(new Map([[key, "id"]]));
    const authenticator = createAuthenticator({ pool, logger, validForMs });
    t.deepEqual(await authenticator.callerOf(key, here), caller);
    await delay(40);
    t.deepEqual(await authenticator.callerOf(key, here), caller);
    t.is(named(calls, "authenticate"), questions);
  }
});

test("an unknown key is looked up each time, so that a new key works at once", async (t) => {
  const key = newKey();
  const keys = new Map<string, string>();
  const { pool } = databaseWith(keys);
  const authenticator = createAuthenticator({ pool, logger });
  t.is(await authenticator.callerOf(key, here), undefined);
  keys.set(key, "id");
  t.like(await authenticator.callerOf(key, here), { apiKeyId: "id" });
});

test("requests with one key at the same time share a lookup", async (t) => {
  const key = newKey();
  const { calls, pool } = databaseWith(new Map([[key, "id"]]), { pauseMs: 5 });
  const authenticator = createAuthenticator({ pool, logger });
  await Promise.all(Array.from({ length: 20 }, () => authenticator.callerOf(key, here)));
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
  await authenticator.callerOf(first, here);
  await authenticator.callerOf(second, here);
  keys.delete(first);
  authenticator.forget("first");
  t.is(await authenticator.callerOf(first, here), undefined);
  await authenticator.callerOf(second, here);
  t.is(named(calls, "authenticate"), 3);
  authenticator.forgetAll();
  await authenticator.callerOf(second, here);
  t.is(named(calls, "authenticate"), 4);
});

test("a key that is removed from the cache during its lookup is not cached", async (t) => {
  const key = newKey();
  const keys = new Map([[key, "id"]]);
  const { pool } = databaseWith(keys, { pauseMs: 10 });
  const authenticator = createAuthenticator({ pool, logger });
  const asked = authenticator.callerOf(key, here);
  await delay(1);
  authenticator.forget("id");
  await asked;
  keys.delete(key);
  t.is(await authenticator.callerOf(key, here), undefined);
});

test("no more keys are cached than the cap", async (t) => {
  const keys = new Map(Array.from({ length: 4 }, (_, index) => [newKey(), String(index)]));
  const { calls, pool } = databaseWith(keys);
  const authenticator = createAuthenticator({ pool, logger, keyCap: 2 });
  for (const key of keys.keys()) await authenticator.callerOf(key, here);
  const [first, , , last] = [...keys.keys()];
  await authenticator.callerOf(last!, here);
  t.is(named(calls, "authenticate"), 4);
  await authenticator.callerOf(first!, here);
  t.is(named(calls, "authenticate"), 5);
});

test("a use is recorded once a minute, and a failure to record it has no effect", async (t) => {
  const key = newKey();
  const { calls, pool } = fakePool({
    answer: ({ name }) => {
      if (name === "note_key_use") throw databaseError("42501");
      return [{ value: JSON.stringify({ ...callerWith("id"), validForMs: 5000 }) }];
    },
  });
  const authenticator = createAuthenticator({ pool, logger });
  for (let count = 0; count < 3; count++) t.truthy(await authenticator.callerOf(key, here));
  await delay(5);
  const uses = calls.filter(({ name }) => name === "note_key_use");
  t.deepEqual(
    uses.map(({ values }) => values),
    [["id", here]],
  );
});

test("an answer is remembered for no longer than the database says", async (t) => {
  const key = newKey();
  const { calls, pool } = databaseWith(new Map([[key, "id"]]), { validForMs: 20 });
  const authenticator = createAuthenticator({ pool, logger, validForMs: 60_000 });
  await authenticator.callerOf(key, here);
  await delay(40);
  await authenticator.callerOf(key, here);
  t.is(named(calls, "authenticate"), 2);
});

test("time that the look-up takes does not make an answer last longer", async (t) => {
  const key = newKey();
  const { calls, pool } = databaseWith(new Map([[key, "id"]]), { pauseMs: 40, validForMs: 20 });
  const authenticator = createAuthenticator({ pool, logger });
  await authenticator.callerOf(key, here);
  await authenticator.callerOf(key, here);
  t.is(named(calls, "authenticate"), 2);
});

test("a key is looked up for each address, with that address", async (t) => {
  const key = newKey();
  const { calls, pool } = databaseWith(new Map([[key, "id"]]));
  const authenticator = createAuthenticator({ pool, logger });
  const addresses = [here, "2001:db8::1", undefined];
  for (const address of [...addresses, ...addresses]) await authenticator.callerOf(key, address);
  t.deepEqual(
    calls
      .filter(({ name }) => name === "authenticate")
      .map(({ values }) => (values[2] as unknown[])[0]),
    [here, "2001:db8::1", null],
  );
});

test("a key that is removed from the cache is looked up again for each address", async (t) => {
  const key = newKey();
  const { calls, pool } = databaseWith(new Map([[key, "id"]]));
  const authenticator = createAuthenticator({ pool, logger });
  for (const address of ["192.0.2.1", "192.0.2.2"]) await authenticator.callerOf(key, address);
  authenticator.forget("id");
  for (const address of ["192.0.2.1", "192.0.2.2"]) await authenticator.callerOf(key, address);
  t.is(named(calls, "authenticate"), 4);
});

test("a key used from many addresses pushes out its own oldest, and no other keys", async (t) => {
  const [key, other] = [newKey(), newKey()];
  const keys = new Map([
    [key, "id"],
    [other, "other"],
  ]);
  const { calls, pool } = databaseWith(keys);
  const authenticator = createAuthenticator({ pool, logger, keyCap: 2 });
  await authenticator.callerOf(other, here);
  for (let n = 0; n < 1000; n++) await authenticator.callerOf(key, `10.0.${n >> 8}.${n & 255}`);
  t.is(named(calls, "authenticate"), 1001);
  await authenticator.callerOf(other, here);
  for (let n = 992; n < 1000; n++) await authenticator.callerOf(key, `10.0.${n >> 8}.${n & 255}`);
  t.is(named(calls, "authenticate"), 1001);
  await authenticator.callerOf(key, "10.0.3.223"); // number 991
  t.is(named(calls, "authenticate"), 1002);
});
