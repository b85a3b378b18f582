import { randomBytes, randomUUID } from "node:crypto";
import test from "ava";
import type { PoolClient } from "pg";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { overlapping } from "../../helpers/database/overlapping.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** What the database holds of passkeys: whose they are, and which challenges are good. */

const exchange = testExchange(test, { sessions: 3 });
const { calls, clock, makeTrader, operate, query } = exchange;

const MINUTE = 60_000;

/** A user of an operator, who has no password, with a session. */
async function signedIn() {
  const userId: string = await makeTrader();
  return { userId, sessionId: await newSession(userId) };
}

async function newSession(userId: string): Promise<string> {
  const cookie: string = await operate("create_session", { user_id: userId });
  const [session] = await query(
    "select public_id from identity.sessions where cookie_hash = sha256(convert_to($1, 'UTF8'))",
    [cookie],
  );
  return session.public_id;
}

type Owner = Awaited<ReturnType<typeof signedIn>>;

const start = (owner: Owner) => calls.startPasskey(owner);

const sound = () => ({
  credentialId: randomBytes(32),
  publicKey: randomBytes(77),
  signCount: 0,
  transports: ["usb", "nfc"],
  name: "a key",
});

async function add(owner: Owner, given: object = {}) {
  const { challenge } = await start(owner);
  const passkey = { ...sound(), ...given };
  const body = await calls.addPasskey({ ...owner, challenge, ...passkey });
  return { ...passkey, id: JSON.parse(body).id as string };
}

const newChallenge = () => calls.startPasskeySignIn({});

const signIn = (given: {
  challenge: Buffer;
  credentialId: Buffer;
  userHandle: string;
  signCount: number;
}) => calls.signInByPasskey({ ...given, isHostOnly: false });

const remove = (owner: Owner, passkeyId: string) => calls.removePasskey({ ...owner, passkeyId });

const challenges = async () =>
  Number((await query("select count(*) from identity.passkey_challenges"))[0].count);

const insert = (column: string, value: string) =>
  query(
    `insert into identity.passkeys
       (user_id, credential_id, public_key, sign_count, transports, name)
     select
       u.id,
       ${column === "credential_id" ? value : "sha256(uuid_send(gen_random_uuid()))"},
       ${column === "public_key" ? value : "'\\x00'"},
       ${column === "sign_count" ? value : "0"},
       ${column === "transports" ? value : "'{}'"},
       ${column === "name" ? value : "'a key'"}
     from identity.users as u limit 1`,
  );

test.serial("what is no passkey breaks a constraint", async (t) => {
  await makeTrader();
  const id = "passkeys_credential_id_has_16_to_1023_bytes";
  const key = "passkeys_public_key_has_1_to_2000_bytes";
  const count = "passkeys_sign_count_is_an_unsigned_32_bit_number";
  const transports = "passkeys_transports_are_known";
  const bytes = (length: number) => `decode(repeat('ab', ${length}), 'hex')`;
  for (const [column, value, constraint] of [
    ["credential_id", bytes(15), id],
    ["credential_id", bytes(1024), id],
    ["public_key", bytes(0), key],
    ["public_key", bytes(2001), key],
    ["sign_count", "-1", count],
    ["sign_count", "4294967296", count],
    ["transports", "'{pigeon}'", transports],
    ["transports", "array[null]::text[]", transports],
    ["transports", "array_fill('usb'::text, array[7])", transports],
    ["name", "' '", "passkeys_name_is_not_blank"],
    ["name", "repeat('x', 101)", "passkeys_name_is_not_blank"],
  ] as const) {
    const error = (await t.throwsAsync(insert(column, value), undefined, value)) as any;
    t.is(error.constraint, constraint, value);
  }
  for (const [column, value] of [
    ["credential_id", bytes(16)],
    ["credential_id", bytes(1023)],
    ["public_key", bytes(2000)],
    ["sign_count", "4294967295"],
    ["transports", "'{ble,hybrid,internal,nfc,smart-card,usb}'"],
    ["name", "repeat('x', 100)"],
  ] as const) {
    await t.notThrowsAsync(insert(column, value));
  }
  const error = (await t.throwsAsync(insert("credential_id", bytes(16)))) as any;
  t.is(error.constraint, "passkeys_credential_id_is_unique");
});

test.serial("what is no challenge breaks a constraint", async (t) => {
  const insertChallenge = (challenge: string, seconds: number) =>
    query(
      `insert into identity.passkey_challenges (challenge, created_at, expires_at)
       values (${challenge}, now(), now() + ${seconds} * interval '1 second')`,
    );
  for (const [challenge, seconds, constraint] of [
    ["'\\x00'", 1, "passkey_challenges_have_32_bytes"],
    ["sha256('1')", 301, "passkey_challenges_last_at_most_5_minutes"],
    ["sha256('1')", -1, "passkey_challenges_last_at_most_5_minutes"],
  ] as const) {
    const error = (await t.throwsAsync(insertChallenge(challenge, seconds))) as any;
    t.is(error.constraint, constraint);
  }
  await t.notThrowsAsync(insertChallenge("sha256('1')", 300));
});

test.serial("INVALID_REQUEST: a name or an id that breaks a rule", async (t) => {
  const owner = await signedIn();
  for (const [given, message] of [
    [{ name: "" }, /The name must not be blank/],
    [{ credentialId: randomBytes(3) }, /passkeys_credential_id_has_16_to_1023_bytes/],
    [{ transports: ["pigeon"] }, /passkeys_transports_are_known/],
  ] as const) {
    await t.throwsAsync(add(owner, given), { code: "EX001", message });
  }
  const { transports } = (
    await query(`select transports from identity.passkeys where credential_id = $1`, [
      (await add(owner, { transports: ["usb", "nfc", "usb"] })).credentialId,
    ])
  )[0];
  t.deepEqual(transports, ["nfc", "usb"]);
});

/** Two calls of servers, of which the second waits for the first: what it came to. */
const together = async <Second>(
  first: (client: PoolClient) => Promise<unknown>,
  second: (client: PoolClient) => Promise<Second>,
) => (await overlapping(exchange.database.pool, first, second, { pool: exchange.api })).second;

test.serial("INVALID_STATE: at most 20 passkeys, also by two sessions at once", async (t) => {
  const owner = await signedIn();
  for (let number = 0; number < 19; number++) await add(owner);
  const other = { ...owner, sessionId: await newSession(owner.userId) };
  const [{ challenge }, { challenge: otherChallenge }] = [await start(owner), await start(other)];
  const late = await together(
    (client) => call(client, api.addPasskey, { ...owner, challenge, ...sound() }),
    (client) => call(client, api.addPasskey, { ...other, challenge: otherChallenge, ...sound() }),
  );
  t.is(late.status === "rejected" && late.reason.code, "EX019");
  await t.throwsAsync(start(owner), { code: "EX019", message: /at most 20 passkeys/ });
  t.is(JSON.parse(await calls.listPasskeys(owner)).data.length, 20);
});

test.serial("INVALID_STATE: of two removals at once one leaves a way in", async (t) => {
  const owner = await signedIn();
  const [first, second] = [await add(owner), await add(owner)];
  const late = await together(
    (client) => call(client, api.removePasskey, { ...owner, passkeyId: first.id }),
    (client) => call(client, api.removePasskey, { ...owner, passkeyId: second.id }),
  );
  t.is(late.status === "rejected" && late.reason.code, "EX019");
});

test.serial("a server reads the public key of exactly the passkey that it names", async (t) => {
  const owner = await signedIn();
  const { credentialId, publicKey } = await add(owner);
  await add(owner);
  const get = (id: Buffer) => calls.getPasskey({ credentialId: id });
  t.deepEqual(await get(credentialId), { publicKey });
  t.is(await get(credentialId.subarray(0, 16)), undefined);
  t.is(await get(randomBytes(32)), undefined);
});

test.serial("a challenge to sign in is used up, also when the passkey is wrong", async (t) => {
  const owner = await signedIn();
  const { credentialId } = await add(owner, { signCount: 5 });
  const challenge = await newChallenge();
  const nobody = { userId: null, cookie: null };
  const right = { challenge, credentialId, userHandle: owner.userId, signCount: 6 };
  t.deepEqual(await signIn({ ...right, signCount: 5 }), nobody);
  t.deepEqual(await signIn(right), nobody);
  for (const wrong of [
    { userHandle: (await signedIn()).userId },
    { userHandle: randomUUID() },
    { credentialId: randomBytes(32) },
    { signCount: 4 },
    { signCount: 0 },
  ]) {
    t.deepEqual(await signIn({ ...right, challenge: await newChallenge(), ...wrong }), nobody);
  }
  const { userId, cookie } = await signIn({ ...right, challenge: await newChallenge() });
  t.is(userId, owner.userId);
  t.regex(cookie!, /^js_/);
});

test.serial("of two sign-ins with one count at the same moment one succeeds", async (t) => {
  const owner = await signedIn();
  const { credentialId } = await add(owner);
  for (let signCount = 1; signCount <= 5; signCount++) {
    const both = await Promise.all([newChallenge(), newChallenge()]);
    const results = await Promise.all(
      both.map((challenge) =>
        signIn({ challenge, credentialId, userHandle: owner.userId, signCount }),
      ),
    );
    t.is(results.filter(({ cookie }) => cookie !== null).length, 1);
  }
});

test.serial("a challenge to add ends with its session, and is replaced by the next", async (t) => {
  const owner = await signedIn();
  const before = await challenges();
  await start(owner);
  await start(owner);
  t.is(await challenges(), before + 1);
  await operate("end_sessions", { user_id: owner.userId });
  t.is(await challenges(), before);
  await t.throwsAsync(start(owner), { code: "EX034" });
});

test.serial("each new challenge removes two that have expired", async (t) => {
  await clock.freeze("2030-01-01T12:00:00Z");
  await query("delete from identity.passkey_challenges");
  for (let number = 0; number < 5; number++) await newChallenge();
  await clock.advance(5 * MINUTE - 1);
  await newChallenge();
  t.is(await challenges(), 6);
  await clock.advance(1);
  for (const count of [5, 4, 4]) {
    await newChallenge();
    t.is(await challenges(), count);
  }
  await clock.release();
});

test.serial("SIGN_IN_AGAIN: a session of another user, an old one, none", async (t) => {
  await clock.freeze();
  const [ann, bob] = [await signedIn(), await signedIn()];
  const { id } = await add(ann);
  await add(ann);
  await t.throwsAsync(start({ ...ann, sessionId: bob.sessionId }), { code: "EX034" });
  await t.throwsAsync(start({ ...ann, sessionId: randomUUID() }), { code: "EX034" });
  const finish = ({ challenge }: { challenge: Buffer }) =>
    calls.addPasskey({ ...ann, challenge, ...sound() });
  await clock.advance(10 * MINUTE - 1);
  await finish(await start(ann));
  const begun = await start(ann);
  await clock.advance(1);
  await t.throwsAsync(finish(begun), { code: "EX034" }, "its challenge is still good");
  await t.throwsAsync(start(ann), { code: "EX034" });
  await t.throwsAsync(remove(ann, id), { code: "EX034" });
  const fresh = { ...ann, sessionId: await newSession(ann.userId) };
  t.true(await remove(fresh, id));
  t.false(await remove(fresh, id));
  await clock.release();
});

test.serial("INVALID_STATE: a user without a password keeps one passkey", async (t) => {
  const owner = await signedIn();
  const [first, second] = [await add(owner), await add(owner)];
  t.true(await remove(owner, first.id));
  await t.throwsAsync(remove(owner, second.id), { code: "EX019", message: /only way into/ });
  await query(
    `insert into identity.passwords (user_id, password_hash)
     select u.id, '$argon2id$v=19$m=64,t=1,p=1$c2FsdA$ZGlnZXN0' from identity.users as u
     where u.public_id = $1`,
    [owner.userId],
  );
  t.true(await remove(owner, second.id));
});
