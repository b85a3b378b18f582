import { randomBytes } from "node:crypto";
import test from "ava";
import { pino } from "pino";
import { createAuthenticator } from "../../src/http/authentication.ts";
import { createLookUps, TooManyLookUps } from "../../src/http/look_ups.ts";
import { formatSecret, sha256Of } from "../../src/secrets.ts";
import { until } from "../helpers/until.ts";
import { fakePool } from "./fake_pool.ts";

/** Look-ups of secrets, which anybody can cause, against the connections that everybody needs. */

/** Look-ups that end when the test says so, with the names of those that have begun. */
function lookingUp(connections: number, addressCap?: number) {
  const turnOf = createLookUps(connections, addressCap);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  return {
    begun,
    endNext: () => ends.shift()?.(),
    lookUp: (name: string, address: string | undefined) =>
      turnOf(address)(async () => {
        begun.push(name);
        await new Promise<void>((end) => ends.push(end));
      }),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("look-ups leave a connection to the counting of requests", async (t) => {
  const { begun, endNext, lookUp } = lookingUp(3);
  for (const name of ["a", "b", "c", "d"]) void lookUp(name, `192.0.2.${name.charCodeAt(0)}`);
  await settled();
  t.deepEqual(begun, ["a", "b"]);
  endNext();
  await settled();
  t.deepEqual(begun, ["a", "b", "c"]);
});

test("addresses take turns: one with many look-ups delays another by one", async (t) => {
  const { begun, endNext, lookUp } = lookingUp(2);
  for (let index = 0; index < 50; index++) void lookUp(`many ${index}`, "192.0.2.1");
  void lookUp("one", "192.0.2.2");
  for (let index = 0; index < 3; index++) {
    await settled();
    endNext();
  }
  await settled();
  t.true(begun.indexOf("one") <= 2 && begun.includes("one"), begun.join());
});

for (const [what, first, second] of [
  ["an address", "192.0.2.1", "192.0.2.1"],
  ["a network of IPv6", "2001:db8::1", "2001:db8::2"],
  ["clients without an address", undefined, undefined],
] as const) {
  test(`of ${what}, a limited number is under way; then there is room again`, async (t) => {
    const { begun, endNext, lookUp } = lookingUp(2, 2);
    const both = [lookUp("a", first), lookUp("b", second)];
    await t.throwsAsync(lookUp("c", second), { instanceOf: TooManyLookUps });
    void lookUp("other", "198.51.100.1");
    for (let index = 0; index < 3; index++) {
      await settled();
      endNext();
    }
    await Promise.all(both);
    void lookUp("d", first);
    await settled();
    t.deepEqual(begun.sort(), ["a", "b", "d", "other"]);
  });
}

test("unknown keys of one address: few are asked for at once, and most not at all", async (t) => {
  const waiting: (() => void)[] = [];
  let most = 0;
  const { calls, pool } = fakePool({
    answer: async () => {
      most = Math.max(most, waiting.length + 1);
      await new Promise<void>((answer) => waiting.push(answer));
      return [];
    },
  });
  const { callerOf, callerOfToken, staffOf } = createAuthenticator({
    pool,
    logger: pino({ level: "silent" }),
  });
  const newSecret = (prefix: "jk_" | "jt_" | "jo_") => formatSecret(randomBytes(32), prefix);
  const outcomes = { unknown: 0, tooMany: 0 };
  const asked = Array.from({ length: 1000 }, async (_, index) => {
    const ask = [callerOf, callerOfToken, staffOf][index % 3]!;
    const prefix = (["jk_", "jt_", "jo_"] as const)[index % 3]!;
    await ask(newSecret(prefix), "192.0.2.1").then(
      () => outcomes.unknown++,
      (error: unknown) => {
        if (error instanceof TooManyLookUps) outcomes.tooMany++;
      },
    );
  });
  await until("the surplus is refused", () => Promise.resolve(outcomes.tooMany === 900));
  await until("all are answered", async () => {
    waiting.shift()?.();
    await settled();
    return outcomes.unknown === 100;
  });
  await Promise.all(asked);
  t.is(calls.length, 100);
  t.is(most, pool.options.max - 1);
});

test("a key that was valid is asked for, however many unknown ones its address tries", async (t) => {
  const known = formatSecret(randomBytes(32), "jk_");
  let hangs = false;
  const { pool } = fakePool({
    answer: async ({ name, values }) => {
      if (name !== "authenticate_key") return [];
      if ((values[0] as Buffer).equals(sha256Of(known))) {
        return [{ userId: "user", apiKeyId: "id", scopes: [], validForMs: 0 }];
      }
      if (hangs) await new Promise(() => undefined);
      return [];
    },
  });
  // One look-up at a time would wait for those that hang.
  pool.options.max = 200;
  const logger = pino({ level: "silent" });
  const { callerOf } = createAuthenticator({ pool, logger, validForMs: 0 });
  t.like(await callerOf(known, "192.0.2.1"), { userId: "user" });
  hangs = true;
  const guess = () => callerOf(formatSecret(randomBytes(32), "jk_"), "192.0.2.1");
  for (let index = 0; index < 100; index++) void guess();
  await t.throwsAsync(guess, { instanceOf: TooManyLookUps });
  t.like(await callerOf(known, "192.0.2.1"), { userId: "user" });
});
