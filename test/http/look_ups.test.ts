import { randomBytes } from "node:crypto";
import test from "ava";
import { pino } from "pino";
import { createAuthenticator } from "../../src/http/authentication.ts";
import { formatSecret, sha256Of } from "../../src/secrets.ts";
import { until } from "../helpers/until.ts";
import { fakePool } from "./fake_pool.ts";

/** Look-ups of secrets, which anybody can cause before a request is counted. */

const logger = pino({ level: "silent" });
const newSecret = (prefix: "jk_" | "jt_" | "js_" | "jo_") => formatSecret(randomBytes(32), prefix);
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A database that knows one key, and answers when the test says so. */
function slowDatabase(known: string) {
  const ends: (() => void)[] = [];
  let most = 0;
  const { calls, pool } = fakePool({
    answer: async ({ name, values }) => {
      if (name !== "authenticate") return [];
      most = Math.max(most, ends.length + 1);
      await new Promise<void>((end) => ends.push(end));
      const [kinds, hashes] = values as [string[], Buffer[]];
      const caller = { userId: "user", apiKeyId: "id", scopes: [], validForMs: 5000 };
      return kinds.map((kind, index) => ({
        value:
          kind === "key" && hashes[index]!.equals(sha256Of(known)) ? JSON.stringify(caller) : null,
      }));
    },
  });
  const looked = () => calls.filter(({ name }) => name === "authenticate");
  return { pool, looked, endNext: () => ends.shift()?.(), most: () => most };
}

test("unknown secrets of all kinds share calls, one at a time", async (t) => {
  const { pool, looked, endNext, most } = slowDatabase("none");
  const { callerOf, callerOfCookie, callerOfToken, staffOf } = createAuthenticator({
    pool,
    logger,
  });
  let unknown = 0;
  const asked = Array.from({ length: 1200 }, async (_, index) => {
    const found = await [
      () => callerOf(newSecret("jk_"), `192.0.2.${index % 250}`),
      () => callerOfToken(newSecret("jt_")),
      () => callerOfCookie(newSecret("js_")),
      () => staffOf(newSecret("jo_")),
    ][index % 4]!();
    if (found === undefined) unknown++;
  });
  await until("all are answered", async () => {
    endNext();
    await settled();
    return unknown === 1200;
  });
  await Promise.all(asked);
  t.is(most(), 1, "so the database does one thing at a time for them");
  t.deepEqual(
    looked().map(({ values }) => (values[0] as string[]).length),
    [500, 500, 200],
  );
});

test("whoever has a valid key waits for a call or two, however many guess", async (t) => {
  const known = newSecret("jk_");
  const { pool, looked, endNext } = slowDatabase(known);
  const { callerOf } = createAuthenticator({ pool, logger });
  const guess = () => callerOf(newSecret("jk_"), "192.0.2.1");
  const guesses = [guess()];
  await settled();
  for (let index = 0; index < 400; index++) guesses.push(guess());
  const valid = callerOf(known, "192.0.2.1");
  let isFound = false;
  void valid.then(() => (isFound = true));
  await until("it is found", async () => {
    endNext();
    await settled();
    return isFound;
  });
  t.like(await valid, { userId: "user" });
  t.is(looked().length, 2);
  await Promise.all(guesses);
});
