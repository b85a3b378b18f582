import { randomBytes } from "node:crypto";
import test from "ava";
import type { Pool, PoolClient } from "pg";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { jobs } from "../../../src/database/job_calls.ts";
import { overlapping } from "../../helpers/database/overlapping.ts";
import { linkHashOf, makeInvitedMember } from "../../helpers/exchange/invited_member.ts";
import { nextMail } from "../../helpers/exchange/next_mail.ts";
import { ownSession } from "../../helpers/exchange/own_session.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { until } from "../../helpers/until.ts";

/** What overlaps with a change of the password: no session of the old one outlives it. */

const exchange = testExchange(test, { sessions: 20 });
const { operate } = exchange;

const hashWith = (digest: string) =>
  `$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$${Buffer.from(digest).toString("base64").replaceAll("=", "")}`;
const [oldHash, newHash, renewedHash] = ["old", "new", "renewed"].map(hashWith) as [
  string,
  string,
  string,
];
const open = { isHostOnly: false };

const inTransaction = async <T>(
  work: (client: PoolClient) => Promise<T>,
  pool = exchange.api,
): Promise<T> => {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    await client.query("rollback");
    client.release();
  }
};

type Work<T> = (client: PoolClient) => Promise<T>;

/** The first has done its work before the second begins, and commits when the second waits. */
async function overlap<First, Second>(first: Work<First>, second: Work<Second>, by?: Pool) {
  const pools = { pool: exchange.api, ...(by && { firstPool: by }) };
  const done = await overlapping(exchange.database.pool, first, second, pools);
  return {
    first: done.first,
    second:
      done.second.status === "fulfilled"
        ? { value: done.second.value }
        : { code: (done.second.reason as { code: string }).code },
  };
}

const makeMember = () => makeInvitedMember(exchange, oldHash);

type Member = Awaited<ReturnType<typeof makeMember>>;

const inSession = async ({ userId }: Pick<Member, "userId">) => ({
  userId,
  sessionId: await ownSession(exchange, userId),
});

type InSession = Awaited<ReturnType<typeof inSession>>;

async function changePassword(member: Member): Promise<Work<string>> {
  const given = { ...open, ...(await inSession(member)) };
  const hashes = { currentHash: oldHash, passwordHash: newHash };
  return (client) => call(client, api.changePassword, { ...given, ...hashes });
}

const sessionsOf = async ({ userId }: Member): Promise<number> => {
  const rows = await exchange.query(
    `select count(*)::int as count from identity.sessions as s
     join identity.users as u on u.id = s.user_id where u.public_id = $1`,
    [userId],
  );
  return rows[0].count;
};

/** The ways to sign in, each made ready before the race. */
const waysIn: Record<string, (member: Member) => Promise<Work<{ cookie: string | null }>>> = {
  "by password": ({ email }) =>
    Promise.resolve((client) =>
      call(client, api.signIn, { ...open, email, passwordHash: oldHash }),
    ),
  "by a link of an operator": async ({ userId }) => {
    const tokenHash = linkHashOf(await operate("sign_in_link", { user_id: userId }));
    return (client) => call(client, api.signInByLink, { ...open, tokenHash });
  },
  "by passkey": async ({ userId }) => {
    const credentialId = randomBytes(16);
    await exchange.query(
      `insert into identity.passkeys (user_id, credential_id, public_key, sign_count, transports, name)
       select id, $2, '\\x01', 0, '{}', 'key' from identity.users where public_id = $1`,
      [userId, credentialId],
    );
    const challenge = await inTransaction((client) => call(client, api.startPasskeySignIn, {}));
    const proof = { challenge, credentialId, userHandle: userId, signCount: 0 };
    return (client) => call(client, api.signInByPasskey, { ...open, ...proof });
  },
};

for (const [way, prepare] of Object.entries(waysIn)) {
  test.serial(`a sign-in ${way} that overlaps a change of the password ends with it`, async (t) => {
    const member = await makeMember();
    const { first, second } = await overlap(await prepare(member), await changePassword(member));
    t.truthy(first.cookie);
    t.true("value" in second);
    t.is(await sessionsOf(member), 1, "that of the change");
  });
}

test.serial("the old password is compared again once it was waited for", async (t) => {
  const member = await makeMember();
  const change = await changePassword(member);
  const { second } = await overlap(change, await waysIn["by password"]!(member));
  t.like(second, { value: { cookie: null } });
  t.is(await sessionsOf(member), 1);
});

test.serial("of two changes of the password the second is by a session that ended", async (t) => {
  const change = await changePassword(await makeMember());
  const { second } = await overlap(change, change);
  t.like(second, { code: "EX002" });
});

test.serial("a hash with newer settings does not bring the old password back", async (t) => {
  const member = await makeMember();
  const { userId, email } = member;
  const { second } = await overlap(await changePassword(member), (client) =>
    call(client, api.rehashPassword, {
      ...{ userId, currentHash: oldHash, passwordHash: renewedHash },
    }),
  );
  t.true("value" in second);
  for (const [passwordHash, isRight] of [
    [newHash, true],
    [renewedHash, false],
  ] as const) {
    const { cookie } = await inTransaction((client) =>
      call(client, api.signIn, { ...open, email, passwordHash }),
    );
    t.is(cookie !== null, isRight);
  }
});

test.serial("a change of the address that overlaps a change of the password ends", async (t) => {
  const member = await makeMember();
  const email = `moved-${member.email}`;
  const before = await inSession(member);
  const ask: Work<void> = (client) =>
    call(client, api.changeEmail, { ...before, email, passwordHash: oldHash });
  const claims = async () => (await exchange.query("select from identity.email_claims")).length;
  await overlap(ask, await changePassword(member));
  t.is(await claims(), 0);
  const after = await inSession(member);
  const { second } = await overlap(
    (client) =>
      call(client, api.changePassword, {
        ...{ ...open, ...after, currentHash: newHash, passwordHash: oldHash },
      }),
    (client) => call(client, api.changeEmail, { ...after, email, passwordHash: newHash }),
  );
  t.like(second, { code: "EX002" });
  t.is(await claims(), 0);
});

/** What a session asks for that leaves something behind, each made ready in it. */
const asked: Record<string, (given: InSession, email: string) => Work<unknown>> = {
  "a new key": (given) => (client) =>
    call(client, api.createKey, { ...given, name: "bot", scopes: ["trade"] }),
  "the revocation of all keys": (given) => (client) => call(client, api.revokeKeys, given),
  "a change of the profile": (given) => (client) =>
    call(client, api.changeOwnProfile, { ...given, displayName: "Thief" }),
  "a change of the address": (given, email) => (client) =>
    call(client, api.changeEmail, { ...given, email: `x-${email}`, passwordHash: oldHash }),
  "a change of the password": (given) => (client) =>
    call(client, api.changePassword, {
      ...{ ...open, ...given, currentHash: oldHash, passwordHash: newHash },
    }),
  limits: (given) => (client) => call(client, api.setOwnLimits, { ...given, dayCents: 1 }),
  "an age": (given) => (client) => call(client, api.confirmOwnAge, { ...given, confirmedAge: 18 }),
  "a reality check": (given) => (client) =>
    call(client, api.setRealityCheck, { ...given, everyMinutes: 30 }),
  "an end of a reminder": (given) => (client) => call(client, api.goOnAfterRealityCheck, given),
  "a self-exclusion": (given) => (client) => call(client, api.excludeSelf, given),
  "the end of a session":
    ({ userId, sessionId }) =>
    (client) =>
      call(client, api.endSession, { ...{ userId, sessionId, endedId: sessionId } }),
  "the end of the other sessions": (given) => (client) => call(client, api.endOtherSessions, given),
  "one more mail": (given) => (client) => call(client, api.resendConfirmation, given),
};

for (const [name, prepare] of Object.entries(asked)) {
  test.serial(`UNAUTHORIZED: ${name}, by a session that waited for a recovery`, async (t) => {
    const { userId, email } = await makeMember();
    const given = await inSession({ userId });
    const { second } = await overlap(
      (client) => client.query("select admin.recover_account($1, $2)", [userId, email]),
      prepare(given, email),
      exchange.database.connectAs("exchange_operator"),
    );
    t.like(second, { code: "EX002" });
  });

  test.serial(`UNAUTHORIZED: ${name}, by a session that waited for its end`, async (t) => {
    const { userId, email } = await makeMember();
    const given = await inSession({ userId });
    const { second } = await overlap(
      (client) => call(client, api.signOut, given),
      prepare(given, email),
    );
    t.like(second, { code: "EX002" });
  });
}

test.serial("UNAUTHORIZED: a key is not rotated or revoked by a session that ended", async (t) => {
  const member = await makeMember();
  const given = await inSession(member);
  const made = await inTransaction((client) =>
    call(client, api.createKey, { ...given, name: "bot", scopes: ["trade"] }),
  );
  const { id: keyId } = JSON.parse(made) as { id: string };
  await inTransaction((client) => call(client, api.signOut, given));
  for (const work of [
    (client: PoolClient) => call(client, api.rotateKey, { ...given, keyId, overlapSeconds: 0 }),
    (client: PoolClient) => call(client, api.revokeKey, { ...given, keyId }),
  ] satisfies Work<unknown>[]) {
    await t.throwsAsync(inTransaction<unknown>(work), { code: "EX002" });
  }
});

test.serial("UNAUTHORIZED: the session of another user", async (t) => {
  const [member, other] = [await makeMember(), await makeMember()];
  const { sessionId } = await inSession(other);
  const given = { userId: member.userId, sessionId, name: "bot", scopes: ["trade"] };
  await t.throwsAsync(
    inTransaction((client) => call(client, api.createKey, given)),
    { code: "EX002" },
  );
});

/** A member who asked for a new password and for another address, and has the link to that. */
async function makeMover(worker: PoolClient) {
  const member = await makeMember();
  const email = `moved-${member.email}`;
  const session = await inSession(member);
  await inTransaction((client) =>
    call(client, api.changeEmail, { ...session, email, passwordHash: oldHash }),
  );
  let link: Buffer | undefined;
  for (let mail = await nextMail(worker); mail !== undefined; mail = await nextMail(worker)) {
    await call(worker, jobs.finishMail, { mailId: mail.mailId });
    if (mail.address === email) link = mail.tokenHash;
  }
  await inTransaction((client) => call(client, api.requestPasswordReset, { email: member.email }));
  const confirm: Work<string | null> = (client) =>
    call(client, api.confirmEmail, { tokenHash: link!, ...session });
  return { ...member, newEmail: email, confirm };
}

const reset = (tokenHash: Buffer) =>
  inTransaction((client) =>
    call(client, api.resetPassword, { ...open, tokenHash, passwordHash: newHash }),
  );

test.serial("no link of a reset survives a change of the address at the same moment", async (t) => {
  const workers = exchange.database.connectAs("exchange_worker");
  const worker = await workers.connect();
  try {
    let mailed = 0;
    for (let round = 0; round < 30; round++) {
      const { confirm } = await makeMover(worker);
      const [mail] = await Promise.all([nextMail(worker), inTransaction(confirm)]);
      if (mail?.kind !== "password_reset") continue;
      mailed += 1;
      await t.throwsAsync(reset(mail.tokenHash), { code: "EX029" }, `round ${round}`);
    }
    t.log(`${mailed} links were mailed`);
  } finally {
    worker.release();
  }
});

test.serial(
  "a reset is mailed before a change of the address, and ends with it, or not",
  async (t) => {
    const workers = exchange.database.connectAs("exchange_worker");
    const worker = await workers.connect();
    try {
      const first = await makeMover(worker);
      await worker.query("begin");
      const mail = await nextMail(worker);
      t.is(mail?.kind, "password_reset");
      const confirmed = inTransaction(first.confirm);
      await until("the change waits for the link", async () => {
        const blocked = await exchange.query(
          "select from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0",
        );
        return blocked.length === 1;
      });
      await worker.query("commit");
      t.truthy(await confirmed);
      await t.throwsAsync(reset(mail!.tokenHash), { code: "EX029" });

      const second = await makeMover(worker);
      const client = await exchange.api.connect();
      await client.query("begin");
      t.truthy(await second.confirm(client));
      t.is(await nextMail(worker), undefined, "the account is held: the mail is put off");
      await client.query("commit");
      client.release();
      await exchange.clock.advance(1000);
      const kinds: string[] = [];
      for (let next = await nextMail(worker); next !== undefined; next = await nextMail(worker)) {
        kinds.push(next.kind);
      }
      t.false(kinds.includes("password_reset"), "nobody has that address any more");
      await exchange.clock.release();
    } finally {
      worker.release();
    }
  },
);
