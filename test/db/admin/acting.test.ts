import { randomBytes } from "node:crypto";
import test from "ava";
import { makePool } from "../../../src/database/pools.ts";
import { noCredential } from "../../../src/graphql/endpoint.ts";
import { sha256Of } from "../../../src/secrets.ts";
import { callBy, makeStaff } from "../../helpers/exchange/staff.ts";
import { makeLogin } from "../../helpers/database/logins.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** identity.acting: who a call is by, and that nobody passes for another. */

const exchange = testExchange(test);
const { clock, makeTrader, operate } = exchange;

const unauthorized = { code: "EX002" };
const operators = () => exchange.database.connectAs("exchange_operator");
const lastCall = async () => {
  const { rows } = await operators().query(
    "select * from admin.audit_entries order by audit_key desc limit 1",
  );
  return rows[0];
};

const loginOfTests = async () => (await exchange.query("select session_user as login"))[0].login;

test.serial("a call without a credential is by the login, who is nobody's", async (t) => {
  const user_id = await makeTrader();
  await operate("list_api_keys", { user_id });
  const operator = await loginOfTests();
  t.like(await lastCall(), { operator, staff_key: null, staff_id: null, staff_name: null });
});

test.serial("a call by a session is by the member of staff", async (t) => {
  const { staffId, cookieHash } = await makeStaff(exchange, ["users"]);
  await callBy(operators(), cookieHash, "create_session", { user_id: await makeTrader() });
  const { staff_id, staff_name, staff_key, operator } = await lastCall();
  t.is(staff_id, staffId);
  t.regex(staff_name, /^Member /);
  t.is(staff_key, null);
  t.is(operator, await loginOfTests());
});

test.serial("a freeze names the member of staff, or the login and the key", async (t) => {
  const { cookieHash } = await makeStaff(exchange, ["users"]);
  const key: string = await operate("create_staff_key", { name: "Otto", role: "operator" });
  const frozenBy = async (credential: Buffer) => {
    const user_id = await makeTrader();
    await callBy(operators(), credential, "freeze_user", { user_id, reason: "why" });
    const { rows } = await operators().query(
      "select frozen_by from admin.users where user_id = $1",
      [user_id],
    );
    return rows[0].frozen_by;
  };
  t.regex(await frozenBy(cookieHash), /^Member \d+$/);
  t.is(await frozenBy(sha256Of(key)), `${await loginOfTests()} (Otto)`);
});

test.serial("a key that a member makes is theirs, and ends with them", async (t) => {
  const { staffId, cookieHash } = await makeStaff(exchange, ["staff", "users"]);
  const make = (name: string, role: string) =>
    callBy(operators(), cookieHash, "create_staff_key", { name, role });
  const key = sha256Of(await make("Anna's", "operator"));
  const analyst = sha256Of(await make("a program", "analyst"));
  const user_id = await makeTrader();
  await callBy(operators(), key, "list_api_keys", { user_id });
  t.like(await lastCall(), { staff_id: staffId, staff_key: "Anna's" });
  const deposit = { user_id, amount_cents: 1, reference: "one" };
  await t.throwsAsync(callBy(operators(), key, "deposit", deposit), { code: "EX042" });
  await t.throwsAsync(callBy(operators(), analyst, "list_api_keys", { user_id }), unauthorized);

  const isValid = async (hash: Buffer) => {
    const { rows } = await exchange.api.query(
      "select value from api.authenticate(array['staff'], array[$1::bytea], '{null}') as value",
      [hash],
    );
    return rows[0].value !== null;
  };
  const colleague = await makeStaff(exchange, ["staff"]);
  const other = sha256Of(
    await callBy(operators(), colleague.cookieHash, "create_staff_key", {
      ...{ name: "a colleague's", role: "analyst" },
    }),
  );
  for (const one of [key, analyst, other]) t.true(await isValid(one));
  await clock.freeze("2040-01-01T00:00:00Z");
  await operate("remove_staff", { staff_id: staffId });
  await t.throwsAsync(callBy(operators(), key, "list_api_keys", { user_id }), unauthorized);
  t.false(await isValid(key));
  t.false(await isValid(analyst));
  t.true(await isValid(other));
  const { rows } = await operators().query(
    'select name, staff_id, revoked_at from admin.staff_keys where name = any ($1) order by name collate "C"',
    [["a colleague's", "a program", "Anna's"]],
  );
  const ended = { staff_id: staffId, revoked_at: new Date("2040-01-01T00:00:00Z") };
  t.deepEqual(rows, [
    { name: "Anna's", ...ended },
    { name: "a colleague's", staff_id: colleague.staffId, revoked_at: null },
    { name: "a program", ...ended },
  ]);
  await clock.release();
});

test.serial("UNAUTHORIZED: what is not in force proves nothing", async (t) => {
  await clock.freeze("2040-01-01T00:00:00Z");
  const user_id = await makeTrader();
  const list = (credential: Buffer | string) =>
    callBy(operators(), credential, "list_api_keys", { user_id });
  const { cookieHash, staffId } = await makeStaff(exchange, ["users"]);
  const key = sha256Of(await operate("create_staff_key", { name: "Kim", role: "operator" }));
  await list(cookieHash);
  await list(key);

  const hex = cookieHash.toString("hex");
  const kept = await exchange.query(
    `select key_hash as hash from identity.staff_keys
     union all select cookie_hash from identity.staff_sessions`,
  );
  t.true(kept.length > 1);
  const wrong = [
    ...["none", " ", staffId, "Member 1", hex.toUpperCase(), hex.slice(1), `${hex}0`, `${hex}\n`],
    ...["' or true --", randomBytes(32), randomBytes(32).toString("hex")],
    ...kept.map(({ hash }) => hash),
  ];
  for (const credential of wrong) {
    await t.throwsAsync(list(credential), unauthorized, String(credential));
  }

  const { rows } = await operators().query(
    "select key_id from admin.staff_keys where name = 'Kim'",
  );
  await operate("revoke_staff_key", { key_id: rows[0].key_id });
  await t.throwsAsync(list(key), unauthorized);
  await clock.advance(12 * 3_600_000 - 1);
  await list(cookieHash);
  await clock.advance(1);
  await t.throwsAsync(list(cookieHash), unauthorized, "the session has expired");
  await clock.release();
});

test.serial(
  "a credential counts until its transaction ends, whatever the connection",
  async (t) => {
    const pool = exchange.database.connectAs("exchange_operator", { max: 1 });
    const { cookieHash, staffId } = await makeStaff(exchange, ["users"]);
    const user_id = await makeTrader();
    const plain = async () => {
      await pool.query("select * from admin.list_api_keys($1)", [user_id]);
      return (await lastCall()).staff_id;
    };
    await callBy(pool, cookieHash, "list_api_keys", { user_id });
    t.is((await lastCall()).staff_id, staffId);
    t.is(await plain(), null, "after a commit");
    await t.throwsAsync(
      callBy(pool, cookieHash, "deposit", { user_id, amount_cents: 1, reference: "" }),
    );
    t.is(await plain(), null, "after a failure");
    await withClient(pool, async (client) => {
      await client.query("begin");
      await client.query("savepoint one");
      await client.query("select set_config('exchange.credential', $1, true)", [
        cookieHash.toString("hex"),
      ]);
      await client.query("rollback to one");
      await client.query("select * from admin.list_api_keys($1)", [user_id]);
      await client.query("commit");
    });
    t.is((await lastCall()).staff_id, null, "after a savepoint");
    await pool.end();
  },
);

test.serial("UNAUTHORIZED: a pool of the server does nothing without a credential", async (t) => {
  const pool = makePool({
    connectionString: exchange.database.connectionString,
    role: "exchange_operator",
    settings: noCredential,
    max: 1,
  });
  const { cookieHash, staffId } = await makeStaff(exchange, ["users"]);
  const user_id = await makeTrader();
  const list = () => pool.query("select * from admin.list_api_keys($1)", [user_id]);
  await t.throwsAsync(list(), unauthorized);
  await callBy(pool, cookieHash, "list_api_keys", { user_id });
  t.is((await lastCall()).staff_id, staffId);
  await t.throwsAsync(list(), unauthorized);
  await pool.end();
});

test.serial("a login that is linked with a member of staff is that member", async (t) => {
  const { pool, connectionString } = exchange.database;
  const {
    name: login,
    connect,
    drop,
  } = await makeLogin(pool, connectionString, ["exchange_operator"]);
  t.teardown(drop);
  const own = await connect();
  const user_id = await makeTrader();
  const list = () => own.query("select * from admin.list_api_keys($1)", [user_id]);
  const deposit = () => own.query("select admin.deposit($1, 1, 'linked')", [user_id]);
  await list();
  t.like(await lastCall(), { operator: login, staff_id: null });

  const { staffId, cookieHash } = await makeStaff(exchange, ["users"], { login });
  await list();
  t.like(await lastCall(), { operator: login, staff_id: staffId });
  await t.throwsAsync(deposit(), { code: "EX042" });

  const other = await makeStaff(exchange, ["cash"]);
  const loose = sha256Of(await operate("create_staff_key", { name: "Loose", role: "operator" }));
  const asOwn = (credential: Buffer) =>
    own.query("select set_config('exchange.credential', $1, false)", [credential.toString("hex")]);
  for (const credential of [other.cookieHash, loose]) {
    await asOwn(credential);
    await t.throwsAsync(deposit(), unauthorized, "in the login of a member only they act");
  }
  await asOwn(cookieHash);
  await list();
  t.like(await lastCall(), { operator: login, staff_id: staffId });
  await own.query("reset exchange.credential");

  await operate("remove_staff", { staff_id: staffId });
  await t.throwsAsync(list(), { ...unauthorized, message: /not staff any more/ });
  const next = await makeStaff(exchange, ["users"], { login });
  await list();
  t.like(await lastCall(), { operator: login, staff_id: next.staffId });
  await operate("remove_staff", { staff_id: next.staffId });
  await own.end();
});

for (const proof of ["session", "key of a member", "key of nobody"] as const) {
  test.serial(
    `INVALID_REQUEST: the login of a server is nobody's once it has acted by a ${proof}`,
    async (t) => {
      const { pool, connectionString } = exchange.database;
      const login = await makeLogin(pool, connectionString, ["exchange_operator"]);
      t.teardown(login.drop);
      const server = makePool({
        connectionString: login.connectionString,
        role: "exchange_operator",
        settings: noCredential,
        max: 1,
      });
      t.teardown(() => server.end());
      const member = await makeStaff(exchange, ["staff", "users"]);
      const makeKey = { name: `Of a ${proof}`, role: "operator" };
      const credential = await {
        session: () => member.cookieHash,
        "key of a member": async () =>
          sha256Of(await callBy(operators(), member.cookieHash, "create_staff_key", makeKey)),
        "key of nobody": async () => sha256Of(await operate("create_staff_key", makeKey)),
      }[proof]();
      const user_id = await makeTrader();
      const act = () => callBy(server, credential, "list_api_keys", { user_id });
      await act();
      t.is((await lastCall()).operator, login.name);
      const person = { email: "eve@staff.example", name: "Eve", roles: ["users"] };
      const link = { ...person, login: login.name };
      await t.throwsAsync(operate("create_staff", link), {
        code: "EX001",
        message: /is of a server of staff/,
      });
      await act();
      t.is((await lastCall()).operator, login.name);
    },
  );
}
