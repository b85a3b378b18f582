import test from "ava";
import type { Pool, PoolClient } from "pg";
import { sha256Of } from "../../../src/secrets.ts";
import { overlapping } from "../../helpers/database/overlapping.ts";
import { ownSession } from "../../helpers/exchange/own_session.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** What API keys may do, until when and from where; and keys that take the place of others. */

const exchange = testExchange(test, { idsAscend: true, sessions: 3 });
const { clock, makeTrader, makeTraders, operate } = exchange;

let operators: Pool;
test.before("connect", () => {
  operators = exchange.database.connectAs("exchange_operator");
});
test.afterEach.always("the clock runs again", () => clock.release());

const NOON = "2040-01-01T12:00:00Z";
interface Powers {
  scopes?: string[] | null;
  expires_at?: string | null;
  allowed_addresses?: string[] | null;
}

async function makeKey(powers: Powers = {}, user_id?: string): Promise<string> {
  const owner = user_id ?? (await makeTrader());
  return await operate("create_api_key", { user_id: owner, name: "key", ...powers });
}

async function authenticate(key: string, address: string | null = null): Promise<any> {
  const { rows } = await exchange.api.query(
    "select value from api.authenticate('{key}', array[$1::bytea], array[$2]) as value",
    [sha256Of(key), address],
  );
  return rows[0].value ?? undefined;
}

async function rowOf(key: string): Promise<any> {
  const rows = await exchange.query(
    `select v.* from admin.api_keys as v
     join identity.api_keys as k on k.public_id = v.key_id where k.key_hash = $1`,
    [sha256Of(key)],
  );
  return rows[0];
}

const idOf = async (key: string): Promise<string> => (await rowOf(key)).key_id;

const rotate = async (key: string, overlap?: string): Promise<string> =>
  operate("rotate_api_key", {
    key_id: await idOf(key),
    ...(overlap !== undefined && { overlap }),
  });

async function endsOf(...ids: string[]): Promise<Map<string, number | null>> {
  const { rows } = await exchange.api.query(
    "select * from api.list_credential_ends(credential_ids => $1)",
    [ids],
  );
  return new Map(rows.map((row) => [row.credential_id, row.ends_in_ms]));
}

test.serial("a key of two arguments has all scopes, no end, and is valid everywhere", async (t) => {
  const user_id = await makeTrader();
  const { rows } = await operators.query("select admin.create_api_key($1, 'key') as key", [
    user_id,
  ]);
  const { key } = rows[0];
  for (const address of [null, "192.0.2.1", "2001:db8::1"]) {
    t.like(await authenticate(key, address), {
      userId: user_id,
      scopes: ["read", "trade"],
      validForMs: 5000,
    });
  }
  t.like(await rowOf(key), { expires_at: null, allowed_addresses: null, replaces: null });
});

test.serial("a key has the scopes that were asked for, in any order", async (t) => {
  for (const [asked, given] of [
    [["read"], ["read"]],
    [["trade"], ["trade"]],
    [
      ["trade", "read"],
      ["read", "trade"],
    ],
  ] as const) {
    const key = await makeKey({ scopes: [...asked] });
    t.deepEqual((await authenticate(key)).scopes, given);
    t.deepEqual((await rowOf(key)).scopes, given);
  }
});

for (const [what, values] of Object.entries({
  "an unknown scope": { scopes: "{read,admin}" },
  "a scope twice": { scopes: "{read,read}" },
  "scopes in the other order": { scopes: "{trade,read}" },
  "no scope": { scopes: "{}" },
  "null among the scopes": { scopes: "{read,null}" },
  "an end before the beginning": { expires_at: "2001-01-01" },
  "an end that is no moment": { expires_at: "infinity" },
  "no address in the list": { allowed_addresses: "{}" },
  "null among the addresses": { allowed_addresses: "{10.0.0.0/8,null}" },
  "a table of addresses": { allowed_addresses: "{{10.0.0.0/8},{10.0.0.0/8}}" },
  "IPv4 as IPv6": { allowed_addresses: "{10.0.0.0/8,::ffff:10.0.0.0/104}" },
  "an address of a use without a use": { last_used_address: "192.0.2.1" },
  "the network of a use": { last_used_at: "2040-01-01", last_used_address: "192.0.2.0/24" },
  "IPv4 as IPv6 of a use": { last_used_at: "2040-01-01", last_used_address: "::ffff:192.0.2.1" },
})) {
  test.serial(`a constraint forbids ${what}`, async (t) => {
    const id = await idOf(await makeKey());
    const columns = Object.keys(values).map((column, index) => `${column} = $${index + 2}`);
    await t.throwsAsync(
      exchange.query(`update identity.api_keys set ${columns.join(", ")} where public_id = $1`, [
        id,
        ...Object.values(values),
      ]),
      { code: "23514" },
    );
  });
}

test.serial("scopes may not be null, and two keys may not replace one", async (t) => {
  const id = await idOf(await makeKey());
  const set = (assignment: string) =>
    exchange.query(`update identity.api_keys set ${assignment} where public_id = $1`, [id]);
  await t.throwsAsync(set("scopes = null"), { code: "23502" });
  const rotated = await makeKey();
  await rotate(rotated);
  await t.throwsAsync(
    set(`replaces = (select id from identity.api_keys where public_id = '${await idOf(rotated)}')`),
    { code: "23505" },
  );
});

test.serial("a key is valid until it expires, and no answer may be kept longer", async (t) => {
  await clock.freeze(NOON);
  const key = await makeKey({ expires_at: "2040-01-01T12:00:10.250Z" });
  const id = await idOf(key);
  const look = async () => [(await authenticate(key))?.validForMs, (await endsOf(id)).get(id)];
  t.deepEqual(await look(), [5000, 10_250]);
  await clock.advance(5250);
  t.deepEqual(await look(), [5000, 5000]);
  await clock.advance(1);
  t.deepEqual(await look(), [4999, 4999]);
  await clock.advance(4998);
  t.deepEqual(await look(), [1, 1]);
  await clock.advance(1);
  t.deepEqual(await look(), [undefined, 0]);
});

test.serial("a key is valid at its addresses only, however these are written", async (t) => {
  const allowed_addresses = ["192.0.2.7", "198.51.100.0/24", "2001:db8:1::/48", "2001:db8::9"];
  const key = await makeKey({ allowed_addresses });
  const expectations: [address: string | null, isValid: boolean][] = [
    ["192.0.2.7", true],
    ["192.0.2.8", false],
    ["198.51.100.0", true],
    ["198.51.100.255", true],
    ["198.51.101.0", false],
    ["::ffff:192.0.2.7", true],
    ["::ffff:c000:0207", true],
    ["::ffff:192.0.2.8", false],
    ["::192.0.2.7", false],
    ["64:ff9b::192.0.2.7", false],
    ["2001:db8:1:ffff::1", true],
    ["2001:db8:2::1", false],
    ["2001:db8::9", true],
    // A network is no address: it does not widen or narrow anything.
    ["198.51.100.1/8", true],
    ["192.0.2.8/32", false],
    ["192.0.0.0/8", false],
    [null, false],
  ];
  for (const [address, isValid] of expectations) {
    t.is((await authenticate(key, address)) !== undefined, isValid, String(address));
  }
});

test.serial("0.0.0.0/0 is all of IPv4, and ::/0 is not", async (t) => {
  const four = await makeKey({ allowed_addresses: ["0.0.0.0/0"] });
  const six = await makeKey({ allowed_addresses: ["::/0"] });
  const validAt = async (key: string) => [
    (await authenticate(key, "203.0.113.1")) !== undefined,
    (await authenticate(key, "::ffff:203.0.113.1")) !== undefined,
    (await authenticate(key, "2001:db8::1")) !== undefined,
  ];
  t.deepEqual(await validAt(four), [true, true, false]);
  t.deepEqual(await validAt(six), [false, false, true]);
});

test.serial("a revoked key is not valid before its end", async (t) => {
  const key = await makeKey({ expires_at: "2090-01-01T00:00:00Z" });
  const id = await idOf(key);
  await operate("revoke_api_key", { key_id: id });
  t.is(await authenticate(key), undefined);
  t.is((await endsOf(id)).get(id), 0);
});

test.serial("a use is recorded with its address, once a minute", async (t) => {
  await clock.freeze(NOON);
  const key = await makeKey();
  const id = await idOf(key);
  const use = async (address: string | null) => {
    await exchange.api.query("select api.note_key_use(api_key_id => $1, address => $2)", [
      id,
      address,
    ]);
    const { last_used_at, last_used_address } = await rowOf(key);
    return [last_used_at.toISOString(), last_used_address];
  };
  t.deepEqual(await use("::ffff:192.0.2.1"), ["2040-01-01T12:00:00.000Z", "192.0.2.1"]);
  await clock.advance(59_000);
  t.deepEqual(await use("192.0.2.2"), ["2040-01-01T12:00:00.000Z", "192.0.2.1"]);
  await clock.advance(2000);
  t.deepEqual(await use("2001:db8::1"), ["2040-01-01T12:01:01.000Z", "2001:db8::1"]);
  await clock.advance(61_000);
  await exchange.api.query("select api.note_key_use(api_key_id => $1)", [id]);
  const { last_used_at, last_used_address } = await rowOf(key);
  t.deepEqual([last_used_at.toISOString(), last_used_address], ["2040-01-01T12:02:02.000Z", null]);
});

test.serial("a rotated key and the new one are both valid during the overlap", async (t) => {
  await clock.freeze(NOON);
  const user_id = await makeTrader();
  const powers = { scopes: ["read"], allowed_addresses: ["192.0.2.0/24", "2001:db8::/32"] };
  const old = await makeKey({ ...powers, expires_at: "2040-03-01T12:00:00Z" }, user_id);
  await clock.advance(86_400_000);
  const made = await rotate(old, "2 hours");
  const row = await rowOf(made);
  // 60 days, as the old one had.
  const expires_at = new Date("2040-03-02T12:00:00Z");
  t.like(row, { user_id, name: "key", replaces: await idOf(old), expires_at });
  t.deepEqual(row.scopes, powers.scopes);
  t.deepEqual(row.allowed_addresses, powers.allowed_addresses);
  t.deepEqual((await rowOf(old)).expires_at, new Date("2040-01-02T14:00:00Z"));
  await clock.advance(2 * 3_600_000 - 1);
  for (const key of [old, made]) t.like(await authenticate(key, "192.0.2.1"), { userId: user_id });
  await clock.advance(1);
  t.is(await authenticate(old, "192.0.2.1"), undefined);
  t.like(await authenticate(made, "192.0.2.1"), { userId: user_id });
});

test.serial("a key without an end has a successor without an end", async (t) => {
  await clock.freeze(NOON);
  const old = await makeKey();
  const made = await rotate(old);
  t.is((await rowOf(made)).expires_at, null);
  t.deepEqual((await rowOf(old)).expires_at, new Date("2040-01-02T12:00:00Z"));
});

test.serial(
  "a key that is valid to the end of 9999 has a successor that ends then too",
  async (t) => {
    await clock.freeze(NOON);
    const user_id = await makeTrader();
    for (const expires_at of ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z"]) {
      const old = await makeKey({ expires_at }, user_id);
      await clock.advance(86_400_000);
      const made = await rotate(old);
      t.deepEqual((await rowOf(made)).expires_at, new Date("9999-12-31T23:59:59.999Z"));
      const [listed] = await listKeys(user_id);
      t.is(listed.expiresAt, "9999-12-31T23:59:59.999Z");
    }
  },
);

test.serial("a rotation does not prolong the old key", async (t) => {
  await clock.freeze(NOON);
  const expires_at = "2040-01-01T13:00:00Z";
  const old = await makeKey({ expires_at });
  await rotate(old, "7 days");
  t.deepEqual((await rowOf(old)).expires_at, new Date(expires_at));
});

test.serial("without an overlap the old key is revoked, and servers hear of it", async (t) => {
  const old = await makeKey();
  const id = await idOf(old);
  const made = await rotate(old, "0");
  t.is(await authenticate(old), undefined);
  t.not(await authenticate(made), undefined);
  const rows = await exchange.query(
    "select from trading.outbox where channel = 'api_key_revoked' and payload ->> 'apiKeyId' = $1",
    [id],
  );
  t.is(rows.length, 1);
});

test.serial("INVALID_REQUEST: an overlap below 5 minutes but 0, or above 7 days", async (t) => {
  const key = await makeKey();
  for (const overlap of ["-1 s", "1 s", "00:04:59.999", "7 days 00:00:01", "-7 days", null]) {
    const key_id = await idOf(key);
    await t.throwsAsync(operate("rotate_api_key", { key_id, overlap }), { code: "EX001" });
  }
  for (const overlap of ["5 minutes", "168:00:00"]) {
    await t.notThrowsAsync(rotate(await makeKey(), overlap));
  }
});

test.serial("INVALID_STATE: a key that is revoked, expired or rotated before", async (t) => {
  const rotated = await makeKey();
  await rotate(rotated, "1 hour");
  const revoked = await makeKey();
  await operate("revoke_api_key", { key_id: await idOf(revoked) });
  await clock.freeze(NOON);
  const expired = await makeKey({ expires_at: "2040-01-01T12:00:01Z" });
  await clock.advance(1000);
  await clock.release();
  await t.throwsAsync(rotate(rotated), { code: "EX019", message: /was rotated before/ });
  await t.throwsAsync(rotate(revoked), { code: "EX019" });
  await clock.freeze("2040-01-01T12:00:01Z");
  await t.throwsAsync(rotate(expired), { code: "EX019" });
});

test.serial("NOT_FOUND: an unknown key is not rotated", async (t) => {
  for (const key_id of ["01900000-0000-7000-8000-000000000000", null]) {
    await t.throwsAsync(operate("rotate_api_key", { key_id }), { code: "EX017" });
  }
});

/** What the second came to: the first commits when it waits or is done. */
const overlap = async (pool: Pool, first: Call, second: Call) =>
  (await overlapping(exchange.database.pool, first, second, { pool })).second;

type Call = (client: PoolClient) => Promise<unknown>;

test.serial("INVALID_STATE: of two rotations at the same moment the second", async (t) => {
  const key_id = await idOf(await makeKey());
  const rotation = (client: PoolClient) =>
    client.query("select admin.rotate_api_key(key_id => $1, overlap => '1 hour')", [key_id]);
  const second = await overlap(operators, rotation, rotation);
  t.like(second, { status: "rejected", reason: { code: "EX019" } });
});

const listKeys = async (user_id: string): Promise<any[]> => {
  const { rows } = await exchange.api.query("select api.list_keys(user_id => $1) as body", [
    user_id,
  ]);
  return rows[0].body.data;
};

const revokeAll = async (user_id: string): Promise<number> => {
  const { rows } = await exchange.api.query(
    "select api.revoke_keys(user_id => $1, session_id => $2) as count",
    [user_id, await ownSession(exchange, user_id)],
  );
  return rows[0].count;
};

test.serial("all keys in force of a user are revoked, and none of others", async (t) => {
  const [ann, bob] = await makeTraders(2);
  const keys = [await makeKey({}, ann), await makeKey({ scopes: ["read"] }, ann)];
  const kept = await makeKey({}, bob);
  await operate("revoke_api_key", { key_id: await idOf(await makeKey({}, ann)) });
  t.is(await revokeAll(ann), 2);
  for (const key of keys) t.is(await authenticate(key), undefined);
  t.not(await authenticate(kept), undefined);
  t.is(await revokeAll(ann), 0);
  t.deepEqual(await listKeys(ann), []);
});

test.serial("a key that is being made when all are revoked is revoked too", async (t) => {
  const user_id = await makeTrader();
  const values = [user_id, await ownSession(exchange, user_id)];
  const second = await overlap(
    exchange.api,
    (client) =>
      client.query("select api.create_key(user_id => $1, session_id => $2, name => 'k')", values),
    (client) =>
      client.query("select api.revoke_keys(user_id => $1, session_id => $2) as count", values),
  );
  t.like(second, { status: "fulfilled", value: { rows: [{ count: 1 }] } });
  t.deepEqual(await listKeys(user_id), []);
});

test.serial("a key that is revoked or expired is not listed and does not count", async (t) => {
  await clock.freeze(NOON);
  const user_id = await makeTrader();
  const session_id = await ownSession(exchange, user_id);
  const create = (expires_at: string | null) =>
    exchange.api.query(
      "select api.create_key(user_id => $1, session_id => $2, name => 'k', expires_at => $3)",
      [user_id, session_id, expires_at],
    );
  for (let count = 0; count < 50; count++) await create("2040-01-01T13:00:00Z");
  const oneTooMany = { code: "EX019", message: /at most 50 keys/ };
  await t.throwsAsync(create(null), oneTooMany);
  await operate("revoke_api_key", { key_id: (await listKeys(user_id))[0].id });
  t.is((await listKeys(user_id)).length, 49);
  await create(null);
  await t.throwsAsync(create(null), oneTooMany);
  await clock.advance(3_600_000);
  await create(null);
  t.is((await listKeys(user_id)).length, 2);
});

test.serial("of 50 keys each can be rotated, and a 51st can't be made beside them", async (t) => {
  const user_id = await makeTrader();
  const session_id = await ownSession(exchange, user_id);
  const create = async () => {
    const { rows } = await exchange.api.query(
      "select api.create_key(user_id => $1, session_id => $2, name => 'k') ->> 'id' as id",
      [user_id, session_id],
    );
    return rows[0].id as string;
  };
  const ids: string[] = [];
  for (let count = 0; count < 50; count++) ids.push(await create());
  const rotateOwn = (key_id: string, seconds: number) =>
    exchange.api.query(
      `select api.rotate_key(
         user_id => $1, session_id => $2, key_id => $3, overlap_seconds => $4)`,
      [user_id, session_id, key_id, seconds],
    );
  await rotateOwn(ids[0]!, 3600);
  await rotateOwn(ids[1]!, 0);
  await t.throwsAsync(create(), { code: "EX019", message: /at most 50 keys/ });
});

test.serial("a user rotates no key of another", async (t) => {
  const [key, other] = [await makeKey(), await makeTrader()];
  const { rows } = await exchange.api.query(
    `select api.rotate_key(
       user_id => $1, session_id => $2, key_id => $3, overlap_seconds => 0) as body`,
    [other, await ownSession(exchange, other), await idOf(key)],
  );
  t.is(rows[0].body, null);
  t.not(await authenticate(key), undefined);
});

test.serial("analysts see no key, no address and no scope", async (t) => {
  const rows = await exchange.query(
    `select c.oid::regclass || '.' || a.attname as name
     from pg_attribute as a join pg_class as c on c.oid = a.attrelid
     where c.relnamespace = 'analytics'::regnamespace and a.attname ~ 'address|scope|api_key'`,
  );
  t.deepEqual(rows, []);
});

test("the beginning of a key names its user, also of a rotated one", async (t) => {
  const [ann, bob] = await makeTraders(2);
  const first = await makeKey({}, ann);
  await makeKey({}, bob);
  const second = await rotate(first);
  for (const key of [first, second]) {
    const { rows } = await operators.query(
      "select user_id, key_prefix from admin.api_keys where $1 like key_prefix || '%'",
      [key],
    );
    t.deepEqual(rows, [{ user_id: ann, key_prefix: key.slice(0, 9) }]);
  }
});

test("a part of e-mail, name, handle or id finds a user", async (t) => {
  const ann = await makeTrader();
  const { rows } = await operators.query(
    "select email, display_name, handle, user_id::text from admin.users where user_id = $1",
    [ann],
  );
  for (const value of Object.values<string>(rows[0])) {
    const found = await operators.query(
      "select user_id from admin.users where position($1 in search_text) > 0",
      [value.slice(-12)],
    );
    t.true(
      found.rows.some(({ user_id }) => user_id === ann),
      value,
    );
  }
});
