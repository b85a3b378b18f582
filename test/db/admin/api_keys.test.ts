import test from "ava";
import type { Pool } from "pg";
import { isWellFormedSecret, sha256Of } from "../../../src/secrets.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** API keys: admin.create_api_key, list_api_keys, revoke_api_key; api.authenticate. */

const exchange = testExchange(test);
const { clock, makeTrader, operate } = exchange;

const nobody = "01900000-0000-7000-8000-000000000000";

let operators: Pool;
test.before("connect", () => {
  operators = exchange.database.connectAs("exchange_operator");
});

async function authenticate(hash: Buffer) {
  const { rows } = await exchange.api.query(
    "select value from api.authenticate('{key}', array[$1::bytea], '{null}') as value",
    [hash],
  );
  return rows.map(({ value }) => value).filter((found) => found !== null);
}

async function keysOf(trader: string): Promise<any[]> {
  const { rows } = await operators.query("select * from admin.list_api_keys(user_id => $1)", [
    trader,
  ]);
  return rows;
}

const createKey = (user_id: string, name = "key"): Promise<string> =>
  operate("create_api_key", { user_id, name });

test("a key is well formed, random, and authenticates its user", async (t) => {
  const trader = await makeTrader();
  const [one, two] = [await createKey(trader), await createKey(trader)];
  t.true(isWellFormedSecret(one, "jk_"));
  t.not(one, two);
  const [caller] = await authenticate(sha256Of(one));
  t.is(caller.userId, trader);
  const [first, second] = await keysOf(trader);
  t.is(caller.apiKeyId, first.id);
  t.is((await authenticate(sha256Of(two)))[0].apiKeyId, second.id);
});

test("an unknown hash authenticates no user", async (t) => {
  t.deepEqual(await authenticate(sha256Of("jk_nothing")), []);
  t.deepEqual(await authenticate(Buffer.alloc(0)), []);
});

test("only the SHA-256 of a key is kept", async (t) => {
  const trader = await makeTrader();
  const key = await createKey(trader);
  const dump = JSON.stringify(await exchange.dump());
  t.false(dump.includes(key));
  t.false(dump.includes(key.slice(3, 46)));
  t.true(dump.includes(sha256Of(key).toString("hex")));
});

test("keys are listed oldest first, revoked ones too, without the key itself", async (t) => {
  const trader = await makeTrader();
  const key = await createKey(trader, "laptop");
  await createKey(trader, "server");
  const [laptop] = await keysOf(trader);
  await operate("revoke_api_key", { key_id: laptop.id });
  const listed = await keysOf(trader);
  t.deepEqual(
    listed.map(({ name }) => name),
    ["laptop", "server"],
  );
  t.deepEqual(Object.keys(listed[0]), ["id", "name", "created_at", "last_used_at", "revoked_at"]);
  t.true(listed[0].revoked_at instanceof Date);
  t.is(listed[1].revoked_at, null);
  t.deepEqual(await authenticate(sha256Of(key)), []);
});

test("revoking again changes nothing", async (t) => {
  const trader = await makeTrader();
  await createKey(trader);
  const [{ id }] = (await keysOf(trader)) as [any];
  await operate("revoke_api_key", { key_id: id });
  const first = await keysOf(trader);
  await operate("revoke_api_key", { key_id: id });
  t.deepEqual(await keysOf(trader), first);
});

test("NOT_FOUND: an unknown key or user", async (t) => {
  await t.throwsAsync(operate("revoke_api_key", { key_id: nobody }), { code: "EX017" });
  await t.throwsAsync(createKey(nobody), { code: "EX017" });
});

test.serial("the use of a key is recorded, to the minute", async (t) => {
  await clock.freeze("2040-01-01T12:00:00Z");
  const trader = await makeTrader();
  const key = await createKey(trader);
  const [caller] = await authenticate(sha256Of(key));
  const use = async (at: string) => {
    await clock.freeze(at);
    await exchange.api.query("select api.note_key_use(api_key_id => $1)", [caller.apiKeyId]);
    return (await keysOf(trader))[0].last_used_at.toISOString();
  };
  t.is(await use("2040-01-01T12:00:00Z"), "2040-01-01T12:00:00.000Z");
  t.is(await use("2040-01-01T12:00:59Z"), "2040-01-01T12:00:00.000Z");
  t.is(await use("2040-01-01T12:01:01Z"), "2040-01-01T12:01:01.000Z");
  await clock.release();
});
