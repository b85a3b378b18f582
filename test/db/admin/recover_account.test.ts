import { randomBytes } from "node:crypto";
import test from "ava";
import { sha256Of } from "../../../src/secrets.ts";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { failure, pairsOf } from "../../helpers/exchange/contention.ts";
import { ownSession } from "../../helpers/exchange/own_session.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** admin.recover_account and admin.freeze_user beside what the account does at the same moment. */

const exchange = testExchange(test, { sessions: 20 });
const { operate, query } = exchange;
const pair = pairsOf(test, exchange, 12);

const nobody = "01900000-0000-7000-8000-000000000000";
const oldHash = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$b2xk";
const newHash = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$bmV3";

let made = 0;

async function makeMember() {
  const number = (made += 1);
  const email = `member-${number}@recovery.example`;
  const userId: string = await operate("create_user", {
    ...{ email, display_name: "Member", handle: `member-${number}` },
  });
  await query(
    "insert into identity.passwords select id, $2 from identity.users where public_id = $1",
    [userId, oldHash],
  );
  return { userId, email };
}
type Member = Awaited<ReturnType<typeof makeMember>>;

const sessionOf = ({ userId }: Member) => operate("create_session", { user_id: userId });
const idOfSession = async (cookie: string): Promise<string> => {
  const [row] = await query("select public_id from identity.sessions where cookie_hash = $1", [
    sha256Of(cookie),
  ]);
  return row.public_id;
};
const recover = (user_id: string, email: string) => operate("recover_account", { user_id, email });
const freeze = (user_id: string) => operate("freeze_user", { user_id, reason: "taken over" });
const codeOf = (work: Promise<unknown>) => failure(work).then((code) => code ?? "done");

/** All that gives access to an account, by table. */
async function access({ userId }: Member) {
  const [row] = await query(
    `select
       (select count(*)::int from identity.sessions as s where s.user_id = u.id) as sessions,
       (select count(*)::int from identity.passkeys as p where p.user_id = u.id) as passkeys,
       (select count(*)::int from identity.passwords as p where p.user_id = u.id) as passwords,
       (select count(*)::int from identity.api_keys as k
        where k.user_id = u.id and identity.is_key_in_force(k)) as keys,
       (select count(*)::int from identity.links as l where l.user_id = u.id) as links,
       (select count(*)::int from identity.email_claims as c where c.user_id = u.id) as claims
     from identity.users as u where u.public_id = $1`,
    [userId],
  );
  return row;
}
const none = { sessions: 0, passkeys: 0, passwords: 0, keys: 0, links: 0, claims: 0 };

async function addPasskey({ userId }: Member) {
  const credentialId = randomBytes(16);
  await query(
    `insert into identity.passkeys (user_id, credential_id, public_key, sign_count, transports, name)
     select id, $2, '\\x01', 0, '{}', 'key' from identity.users where public_id = $1`,
    [userId, credentialId],
  );
  return credentialId;
}

test.serial("it ends all access, is audited, and the streams hear of it", async (t) => {
  const member = await makeMember();
  const { userId, email } = member;
  await addPasskey(member);
  const key: string = await operate("create_api_key", { user_id: userId, name: "bot" });
  const sessionId = await idOfSession(await sessionOf(member));
  await operate("sign_in_link", { user_id: userId });
  await exchange.api.query(
    `select api.change_email(
       user_id => $1, session_id => $2, email => 'thief@evil.example', password_hash => $3)`,
    [userId, sessionId, oldHash],
  );
  await recover(userId, "Owner@mail.example");
  t.deepEqual(await access(member), none);
  const [user] = await query("select email from admin.users where user_id = $1", [userId]);
  t.is(user.email, "Owner@mail.example");
  const [entry] = await query(
    "select arguments from admin.audit_entries where action = 'recover_account'",
  );
  t.deepEqual(entry.arguments, {
    ...{ user_id: userId, email: "Owner@mail.example", email_before: email },
    ended: { sessions: 1, passkeys: 1, apiKeys: 1 },
  });
  const events = await query(
    "select channel, payload from trading.outbox where channel in ('session_ended', 'api_key_revoked')",
  );
  const [{ public_id: apiKeyId }] = await query(
    "select public_id from identity.api_keys where key_hash = $1",
    [sha256Of(key)],
  );
  t.deepEqual(events.map(({ channel, payload }) => [channel, payload]).toSorted(), [
    ["api_key_revoked", { apiKeyId }],
    ["session_ended", { sessionId }],
  ]);
  // Again, with an address that was mistyped before: the mail to that one is not sent.
  await recover(userId, email);
  const { rows: mails } = await exchange.workers.query(
    "select kind, address from jobs.take_mail(token_hash => $1)",
    [randomBytes(32)],
  );
  t.deepEqual(mails, [{ kind: "recovery", address: email }]);
});

test.serial("an account of which the address was never confirmed has one then", async (t) => {
  await operate("set_sign_up", { policy: "open" });
  const client = await exchange.api.connect();
  const { userId } = await call(client, api.signUp, {
    ...{ email: "typo@mail.example", displayName: "New", handle: "new", passwordHash: oldHash },
    isHostOnly: false,
  });
  client.release();
  await recover(userId, "right@mail.example");
  const mails = await query(
    `select m.kind from identity.mails as m join identity.users as u on u.id = m.user_id
     where u.public_id = $1 and m.kind <> 'confirm_email'`,
    [userId],
  );
  const [profile] = await query("select api.get_own_profile(user_id => $1) as of", [userId]);
  t.like(profile.of, { email: "right@mail.example", emailConfirmed: true, hasPassword: false });
  t.deepEqual(mails, [{ kind: "recovery" }], "none to an address that is none");
});

test.serial("ALREADY_EXISTS, INVALID_REQUEST, NOT_FOUND: and nothing has changed", async (t) => {
  const [member, other] = [await makeMember(), await makeMember()];
  await sessionOf(member);
  const before = await access(member);
  const taken = recover(member.userId, other.email.toUpperCase());
  await t.throwsAsync(taken, { code: "EX018", message: /Another account has this/ });
  for (const email of ["", "no address", null as unknown as string]) {
    await t.throwsAsync(recover(member.userId, email), { code: "EX001" });
  }
  await t.throwsAsync(recover(nobody, "x@mail.example"), { code: "EX017" });
  await t.throwsAsync(operate("user_access", { user_id: nobody }), { code: "EX017" });
  t.deepEqual(await access(member), before);
});

type Way = (member: Member) => Promise<() => Promise<unknown>>;

const as = async <T>(work: (client: Parameters<typeof call>[0]) => Promise<T>): Promise<T> => {
  const client = await exchange.api.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
};

/** What a thief does at the moment of the recovery: none of it may outlive it. */
const ways: Record<string, Way> = {
  "a sign-in by password": ({ email }) =>
    Promise.resolve(() =>
      as((client) => call(client, api.signIn, { email, passwordHash: oldHash, isHostOnly: false })),
    ),
  "a sign-in by passkey": async (member) => {
    const credentialId = await addPasskey(member);
    const challenge = await as((client) => call(client, api.startPasskeySignIn, {}));
    const proof = { challenge, credentialId, userHandle: member.userId, signCount: 0 };
    return () => as((client) => call(client, api.signInByPasskey, { ...proof, isHostOnly: false }));
  },
  "a sign-in by a link": async ({ userId }) => {
    const path: string = await operate("sign_in_link", { user_id: userId });
    const tokenHash = sha256Of(path.split("#")[1]!);
    return () => as((client) => call(client, api.signInByLink, { tokenHash, isHostOnly: false }));
  },
  "a new key": async ({ userId }) => {
    const given = { userId, sessionId: await ownSession(exchange, userId) };
    return () =>
      as((client) => call(client, api.createKey, { ...given, name: "bot", scopes: ["trade"] }));
  },
  "a change of the address": async ({ userId, email }) => {
    const given = { userId, sessionId: await ownSession(exchange, userId), passwordHash: oldHash };
    return () => as((client) => call(client, api.changeEmail, { ...given, email: `x-${email}` }));
  },
  "a change of the password": async ({ userId }) => {
    const given = { userId, sessionId: await ownSession(exchange, userId), isHostOnly: false };
    const hashes = { currentHash: oldHash, passwordHash: newHash };
    return () => as((client) => call(client, api.changePassword, { ...given, ...hashes }));
  },
  "a session that an operator makes": (member) => Promise.resolve(() => sessionOf(member)),
  "a link that an operator makes": ({ userId }) =>
    Promise.resolve(() => operate("sign_in_link", { user_id: userId })),
};
const ofOperators = ["a session that an operator makes", "a link that an operator makes"];

for (const [name, prepare] of Object.entries(ways)) {
  pair.serial(
    `${name} beside a recovery comes before it, and ends`,
    ["ended"],
    async (contention, t) => {
      const member = await makeMember();
      const act = await prepare(member);
      let isActDone = false;
      await contention.together([
        () => codeOf(act()).then(() => (isActDone = true)),
        () => recover(member.userId, `back-${member.email}`),
      ] as const);
      t.true(isActDone);
      const { sessions, links, keys, ...rest } = await access(member);
      t.deepEqual(rest, { passkeys: 0, passwords: 0, claims: 0 });
      t.is(keys, 0);
      // An operator's comes before or after.
      if (!ofOperators.includes(name)) t.deepEqual({ sessions, links }, { sessions: 0, links: 0 });
      return "ended";
    },
  );
}

for (const name of ["a new key", "a change of the address", "a change of the password"]) {
  pair.serial(
    `${name} beside freezing is before it, or is refused`,
    ["done", "EX002"],
    async (contention, t) => {
      const member = await makeMember();
      const act = await ways[name]!(member);
      const [way] = await contention.together([
        () => codeOf(act()),
        () => freeze(member.userId),
      ] as const);
      t.is((await access(member)).sessions, 0);
      t.is(await codeOf(act()), "EX002", "its session has ended");
      t.is(await codeOf((await ways[name]!(member))()), "EX024");
      return way;
    },
  );
}
