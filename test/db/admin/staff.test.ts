import { randomBytes } from "node:crypto";
import test from "ava";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { isWellFormedSecret, sha256Of } from "../../../src/secrets.ts";
import {
  accept,
  callBy,
  mailedInvitation,
  makeStaff,
  newPasskey,
  someHash,
} from "../../helpers/exchange/staff.ts";
import type { StaffMember } from "../../helpers/exchange/staff.ts";
import { makeLogin } from "../../helpers/database/logins.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** Staff as people: invitation, sign-in by password and passkey, roles, removal. */

const exchange = testExchange(test, { sessions: 3 });
const { calls, clock, operate } = exchange;

const MINUTE = 60_000;
const notFound = { code: "EX017" };
const nobody = "01900000-0000-7000-8000-000000000000";

async function shown(staffId: string): Promise<any> {
  const rows = await exchange.look("select * from admin.staff where staff_id = $1", [staffId]);
  return rows[0];
}

async function authenticate(cookieHash: Buffer): Promise<any> {
  const { rows } = await exchange.api.query(
    "select value from api.authenticate(array['staff_cookie'], array[$1::bytea], '{null}') as value",
    [cookieHash],
  );
  return rows[0].value;
}

const newChallenge = () => calls.startPasskeySignIn({});

const newMember = (roles: string[] = ["cash"]) => makeStaff(exchange, roles);

/** Signs in, by what a member has unless something else is given. */
async function signIn(member: StaffMember, given: object = {}) {
  const { email, passwordHash, credentialId, staffId: userHandle } = member;
  const challenge = await newChallenge();
  return calls.signInStaff({
    ...{ email, passwordHash, challenge, credentialId, userHandle, signCount: 0, ...given },
  });
}

const refused = { staffId: null, cookie: null };

test.serial("a person is invited by mail, and sets password and passkey", async (t) => {
  const email = "ann@staff.example";
  const staffId = await operate("create_staff", {
    ...{ email, name: "Ann", roles: ["users", "cash", "cash"] },
  });
  const asInvited = { email, name: "Ann", roles: ["cash", "users"], login: null, removed_at: null };
  t.like(await shown(staffId), { ...asInvited, has_accepted: false, passkeys: 0 });

  const tokenHash = await mailedInvitation(exchange, email);
  const link = await calls.getStaffLink({ tokenHash });
  t.deepEqual(JSON.parse(link), { staffId, email, name: "Ann" });
  await t.throwsAsync(calls.getLink({ tokenHash }), { code: "EX029" }, "it is no link of a user");

  const { cookie } = await accept(exchange, {
    ...{ tokenHash, passwordHash: someHash("ann"), ...newPasskey() },
  });
  t.true(isWellFormedSecret(cookie!, "jf_"));
  t.like(await authenticate(sha256Of(cookie!)), { staffId, name: "Ann", roles: ["cash", "users"] });
  t.like(await shown(staffId), { ...asInvited, has_accepted: true, passkeys: 1 });
  t.deepEqual(await exchange.query("select * from identity.links where staff_id is not null"), []);
});

test.serial("INVALID_LINK: an invitation is good once, and for three days", async (t) => {
  const email = "late@staff.example";
  const staff_id = await operate("create_staff", { email, name: "Late", roles: ["audit"] });
  const tokenHash = await mailedInvitation(exchange, email);
  const given = { tokenHash, passwordHash: someHash("late"), ...newPasskey() };
  await t.throwsAsync(accept(exchange, { ...given, tokenHash: randomBytes(32) }), {
    code: "EX029",
  });
  await t.throwsAsync(accept(exchange, { ...given, challenge: randomBytes(32) }), {
    code: "EX033",
  });
  await clock.advance(3 * 24 * 60 * MINUTE);
  await t.throwsAsync(accept(exchange, given), { code: "EX029" });
  await operate("invite_staff", { staff_id });
  const again = { ...given, tokenHash: await mailedInvitation(exchange, email) };
  await accept(exchange, again);
  await t.throwsAsync(accept(exchange, again), { code: "EX029" });
});

test.serial("both factors are needed to sign in, and a signature is good once", async (t) => {
  const member = await newMember();
  const other = await newMember();
  t.truthy((await shown(other.staffId)).last_sign_in_at, "the invitation signed them in");
  const { staffId, cookie } = await signIn(member);
  t.is(staffId, member.staffId);
  t.like(await authenticate(sha256Of(cookie!)), { staffId });
  t.truthy((await shown(staffId!)).last_sign_in_at);
  for (const wrong of [
    { passwordHash: someHash("wrong") },
    { passwordHash: "" },
    { passwordHash: other.passwordHash },
    { email: other.email },
    { credentialId: other.credentialId },
    { credentialId: randomBytes(32) },
    { userHandle: other.staffId },
    { challenge: randomBytes(32) },
  ]) {
    t.deepEqual(await signIn(member, wrong), refused, Object.keys(wrong).join());
  }
  const challenge = await newChallenge();
  t.deepEqual(await signIn(member, { challenge, passwordHash: someHash("wrong") }), refused);
  t.deepEqual(await signIn(member, { challenge }), refused, "the first attempt has used it up");
});

test.serial("a passkey that has counted fewer signatures than before is refused", async (t) => {
  const member = await newMember();
  t.truthy((await signIn(member, { signCount: 5 })).cookie);
  for (const signCount of [5, 4, 0]) t.deepEqual(await signIn(member, { signCount }), refused);
  t.truthy((await signIn(member, { signCount: 6 })).cookie);
});

test.serial("a session lasts 12 hours, and ends by signing out", async (t) => {
  await clock.freeze("2040-01-01T00:00:00Z");
  const member = await newMember();
  const { sessionId } = await authenticate(member.cookieHash);
  const { cookie } = await signIn(member);
  await calls.signOutStaff({ sessionId });
  t.is(await authenticate(member.cookieHash), null);
  await clock.advance(12 * 60 * MINUTE - 1);
  t.truthy(await authenticate(sha256Of(cookie!)));
  await clock.advance(1);
  t.is(await authenticate(sha256Of(cookie!)), null);
});

test.serial("SIGN_IN_AGAIN: a passkey is added in a fresh session only", async (t) => {
  const member = await newMember();
  const { sessionId } = await authenticate(member.cookieHash);
  const add = async (passkey = newPasskey(), challenge?: Buffer) =>
    withClient(exchange.api, async (client) =>
      call(client, api.addStaffPasskey, {
        ...{ sessionId, ...passkey, name: "another" },
        challenge: challenge ?? (await newChallenge()),
      }),
    );
  const passkey = newPasskey();
  const { last_sign_in_at } = await shown(member.staffId);
  await clock.advance(MINUTE);
  await add(passkey);
  t.deepEqual((await shown(member.staffId)).last_sign_in_at, last_sign_in_at, "it is no sign-in");
  t.truthy((await signIn(member, { credentialId: passkey.credentialId })).cookie);
  const rows = await exchange.look(
    `select action, arguments ->> 'passkey_name' as name
       from admin.audit_entries where staff_id = $1 order by audit_key`,
    [member.staffId],
  );
  t.deepEqual(
    rows.map(({ action }) => action),
    ["accept_staff_invitation", "add_staff_passkey"],
  );
  t.is(rows[1].name, "another");
  t.truthy(rows[0].name);
  const mails = await exchange.query(
    "select user_id, details from identity.mails where kind = 'staff_passkey_added' and address = $1",
    [member.email],
  );
  t.deepEqual(mails, [{ user_id: null, details: { name: "another" } }]);
  await t.throwsAsync(add(passkey), { code: "EX018" });
  await t.throwsAsync(add(newPasskey(), randomBytes(32)), { code: "EX033" });
  await clock.advance(10 * MINUTE);
  await t.throwsAsync(add(), { code: "EX034" });
});

test.serial("roles are changed in open sessions too", async (t) => {
  const { staffId, cookieHash } = await newMember(["cash"]);
  await operate("set_staff_roles", { staff_id: staffId, roles: ["markets", "audit"] });
  t.like(await authenticate(cookieHash), { roles: ["audit", "markets"] });
  const set = (staff_id: string, roles: unknown) => operate("set_staff_roles", { staff_id, roles });
  for (const roles of [[], null, ["king"], ["cash", null]]) {
    await t.throwsAsync(set(staffId, roles), {
      code: "EX001",
      message: /^(The roles must|A value)/,
    });
  }
  await t.throwsAsync(set(nobody, ["cash"]), notFound);
});

test.serial("an invitation to a member ends password, passkeys and sessions", async (t) => {
  const member = await newMember();
  await operate("invite_staff", { staff_id: member.staffId });
  t.is(await authenticate(member.cookieHash), null);
  t.deepEqual(await signIn(member), refused);
  await accept(exchange, {
    tokenHash: await mailedInvitation(exchange, member.email),
    ...{ passwordHash: member.passwordHash, ...newPasskey() },
  });
  t.deepEqual(await signIn(member), refused, "by the passkey from before");
});

test.serial(
  "an invitation to a member ends the operator's keys that the member made",
  async (t) => {
    const member = await newMember(["staff"]);
    const operators = exchange.database.connectAs("exchange_operator");
    const key: string = await callBy(operators, member.cookieHash, "create_staff_key", {
      ...{ name: "kept", role: "operator" },
    });
    const list = () => callBy(operators, sha256Of(key), "list_staff_keys");
    await t.notThrowsAsync(list());
    await operate("invite_staff", { staff_id: member.staffId });
    await t.throwsAsync(list(), { code: "EX002" });
    await accept(exchange, {
      tokenHash: await mailedInvitation(exchange, member.email),
      ...{ passwordHash: member.passwordHash, ...newPasskey() },
    });
    await t.throwsAsync(list(), { code: "EX002" });
  },
);

test.serial(
  "a passkey that is removed signs in no more, and ends the member's sessions",
  async (t) => {
    const [member, other] = [await newMember(), await newMember()];
    const passkeysOf = async (staff: StaffMember): Promise<any[]> => {
      const rows = await exchange.look(
        "select passkey_id, name from admin.staff_passkeys where staff_id = $1",
        [staff.staffId],
      );
      return rows;
    };
    const [{ passkey_id }] = await passkeysOf(member);
    await operate("remove_staff_passkey", { passkey_id });
    t.deepEqual(await passkeysOf(member), []);
    t.is(await authenticate(member.cookieHash), null);
    t.deepEqual(await signIn(member), refused);
    t.is((await passkeysOf(other)).length, 1);
    t.truthy(await authenticate(other.cookieHash));
    t.truthy((await signIn(other)).cookie);
    await t.throwsAsync(operate("remove_staff_passkey", { passkey_id }), notFound);
  },
);

test.serial("who is removed has no way in, and is not staff any more", async (t) => {
  const member = await newMember();
  const invited = await operate("create_staff", {
    ...{ email: "ben@staff.example", name: "Ben", roles: ["cash"] },
  });
  const tokenHash = await mailedInvitation(exchange, "ben@staff.example");
  for (const staff_id of [member.staffId, invited]) await operate("remove_staff", { staff_id });
  t.is(await authenticate(member.cookieHash), null);
  t.deepEqual(await signIn(member), refused);
  const given = { tokenHash, passwordHash: someHash("ben"), ...newPasskey() };
  await t.throwsAsync(accept(exchange, given), { code: "EX029" });
  for (const name of ["remove_staff", "invite_staff"]) {
    await t.throwsAsync(operate(name, { staff_id: invited }), notFound);
  }
  const again = await operate("create_staff", {
    ...{ email: "BEN@staff.example", name: "Ben", roles: ["cash"] },
  });
  t.not(again, invited);
});

test.serial("a member may give up the role that staff needs, and may leave", async (t) => {
  const operators = exchange.database.connectAs("exchange_operator");
  const one = await newMember(["cash", "staff"]);
  const values = { staff_id: one.staffId, roles: ["cash"] };
  await callBy(operators, one.cookieHash, "set_staff_roles", values);
  t.deepEqual((await shown(one.staffId)).roles, ["cash"]);
  const again = callBy(operators, one.cookieHash, "set_staff_roles", values);
  await t.throwsAsync(again, { code: "EX042" });

  const other = await newMember(["staff"]);
  await callBy(operators, other.cookieHash, "remove_staff", { staff_id: other.staffId });
  t.not((await shown(other.staffId)).removed_at, null);
  const { rows } = await operators.query(
    "select e.action from admin.audit_entries as e where e.staff_id = $1 order by e.audit_key",
    [other.staffId],
  );
  t.deepEqual(rows, [{ action: "accept_staff_invitation" }, { action: "remove_staff" }]);
});

test.serial("wrong values of a new member are refused", async (t) => {
  const email = "carl@staff.example";
  const create = (given: object) =>
    operate("create_staff", { email, name: "Carl", roles: ["cash"], ...given });
  await t.throwsAsync(create({ email: "carl" }), { code: "EX001", message: /e-mail/ });
  await t.throwsAsync(create({ name: " " }), { code: "EX001", message: /name must not/ });
  await t.throwsAsync(create({ roles: ["king"] }), { code: "EX001", message: /roles must be/ });
  await t.throwsAsync(create({ login: "no_such_login" }), notFound);
  const { pool, connectionString } = exchange.database;
  const ofServer = await makeLogin(pool, connectionString, ["exchange_operator", "exchange_api"]);
  t.teardown(ofServer.drop);
  // One that can't log in, that of a superuser, and that of a server.
  for (const login of ["exchange_operator", "postgres", ofServer.name]) {
    await t.throwsAsync(create({ login }), {
      code: "EX001",
      message: /must have exchange_operator/,
    });
  }
  await create({});
  await t.throwsAsync(create({ email: email.toUpperCase() }), { code: "EX018" });
});

test.serial("addresses with and without staff get settings of passwords alike", async (t) => {
  const member = await newMember();
  const standard = "$argon2id$v=19$m=8,t=1,p=1";
  const settings = (email: string) => calls.getStaffPasswordSettings({ standard, email });
  t.is(await settings(member.email), `${standard}$c2FsdHNhbHQ`);
  const decoy = await settings("nobody@staff.example");
  t.regex(decoy, /^\$argon2id\$v=19\$m=8,t=1,p=1\$[A-Za-z0-9+/]{22}$/);
  t.is(await settings("NOBODY@staff.example"), decoy);
});
