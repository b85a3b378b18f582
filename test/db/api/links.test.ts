import test from "ava";
import type { PoolClient } from "pg";
import { call } from "../../../src/database/call.ts";
import { api } from "../../../src/database/calls.ts";
import { jobs } from "../../../src/database/job_calls.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { linkHashOf, makeInvitedMember } from "../../helpers/exchange/invited_member.ts";
import { nextMail } from "../../helpers/exchange/next_mail.ts";
import { ownSession } from "../../helpers/exchange/own_session.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** Links: each is good once, for its purpose and its user only. */

const exchange = testExchange(test);
const { calls, operate } = exchange;

const passwordHash = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$ZGlnZXN0";
const invalidLink = { code: "EX029" };
const open = { isHostOnly: false };

const on = <T>(work: (client: PoolClient) => Promise<T>) => withClient(exchange.api, work);

const given = { ...open, displayName: "Member", passwordHash };
let made = 0;

const makeMember = () => makeInvitedMember(exchange, passwordHash);

const withLink = new Set(["confirm_email", "password_reset", "invitation"]);

/** The hashes of the links in the mails to this address that are due. */
async function mailedLinks(email: string): Promise<Buffer[]> {
  const hashes: Buffer[] = [];
  return await withClient(exchange.workers, async (worker) => {
    for (;;) {
      const mail = await nextMail(worker);
      if (mail === undefined) return hashes;
      await call(worker, jobs.finishMail, { mailId: mail.mailId });
      if (mail.address === email && withLink.has(mail.kind)) hashes.push(mail.tokenHash);
    }
  });
}

const reset = (tokenHash: Buffer) => calls.resetPassword({ ...open, tokenHash, passwordHash });
const signInByLink = (tokenHash: Buffer) => calls.signInByLink({ ...open, tokenHash });
const signUp = (email: string, invitationHash: Buffer) =>
  on((client) => {
    const handle = `guest-${(made += 1)}`;
    return call(client, api.signUp, { ...given, email, handle, invitationHash });
  });

test.serial("INVALID_LINK: an invitation is good once, and for its address", async (t) => {
  await operate("set_sign_up", { policy: "invitation" });
  const email = "guest@links.example";
  const invitation = linkHashOf(await operate("invite_user", { email }));
  await t.throwsAsync(signUp("other@links.example", invitation), invalidLink);
  t.truthy((await signUp(email.toUpperCase(), invitation)).userId);
  await t.throwsAsync(signUp(email, invitation), invalidLink);
});

test.serial("INVALID_LINK: a link of another kind", async (t) => {
  const { email, userId } = await makeMember();
  await calls.requestPasswordReset({ email });
  const ofMail = (await mailedLinks(email)).at(-1);
  const ofOperator = linkHashOf(await operate("sign_in_link", { user_id: userId }));
  await t.throwsAsync(reset(ofOperator), invalidLink);
  await t.throwsAsync(signInByLink(ofMail!), invalidLink);
  await t.throwsAsync(calls.confirmEmail({ tokenHash: ofMail! }), invalidLink);
  t.is((await signInByLink(ofOperator)).userId, userId, "each is still good for its purpose");
  t.is((await reset(ofMail!)).userId, userId);
});

test.serial(
  "INVALID_LINK: another link of the same kind and user, once one was used",
  async (t) => {
    const { userId } = await makeMember();
    const other = await makeMember();
    const link = async (user_id: string) => linkHashOf(await operate("sign_in_link", { user_id }));
    const [first, second, ofOther] = [
      await link(userId),
      await link(userId),
      await link(other.userId),
    ];
    t.is((await signInByLink(second)).userId, userId);
    await t.throwsAsync(signInByLink(first), invalidLink);
    t.is((await signInByLink(ofOther)).userId, other.userId, "those of others stay");
  },
);

test.serial("INVALID_LINK: a link of an operator, once the password was changed", async (t) => {
  const { userId } = await makeMember();
  const link = linkHashOf(await operate("sign_in_link", { user_id: userId }));
  await changePassword(userId);
  await t.throwsAsync(signInByLink(link), invalidLink);
});

const inSession = async (userId: string) => ({
  userId,
  sessionId: await ownSession(exchange, userId),
});

async function changePassword(userId: string): Promise<string> {
  const given = { ...open, ...(await inSession(userId)), currentHash: passwordHash, passwordHash };
  return await calls.changePassword(given);
}

async function changeEmail(userId: string, email: string): Promise<void> {
  const given = { ...(await inSession(userId)), email, passwordHash };
  await calls.changeEmail(given);
}

async function confirm(tokenHash: Buffer, userId?: string): Promise<string | null> {
  const given = { tokenHash, ...(userId !== undefined && (await inSession(userId))) };
  return await calls.confirmEmail(given);
}

test.serial("INVALID_LINK: a change of the address, once the password was changed", async (t) => {
  for (const replace of [
    ({ userId }: { userId: string }) => changePassword(userId),
    async ({ email }: { email: string }) => {
      await calls.requestPasswordReset({ email });
      await reset((await mailedLinks(email)).at(-1)!);
    },
  ]) {
    const member = await makeMember();
    const { userId } = member;
    const ask = (email: string) => changeEmail(userId, email);
    const [followed, waiting] = [`early-${member.email}`, `late-${member.email}`];
    await ask(followed);
    const [link] = await mailedLinks(followed);
    t.truthy(link);
    await replace(member);
    await t.throwsAsync(confirm(link!), invalidLink);
    await ask(waiting);
    await replace(member);
    t.deepEqual(await mailedLinks(waiting), [], "no link is made for one that has ended");
    const profile = await calls.getOwnProfile({ userId });
    t.like(JSON.parse(profile), { email: member.email, newEmail: null });
  }
});

/** The kinds of the mails to this address that wait or are tried again. */
async function waitingKinds(email: string): Promise<string[]> {
  const rows = await exchange.query(
    "select kind from identity.mails where lower(address) = lower($1) and due_at is not null",
    [email],
  );
  return rows.map(({ kind }) => kind);
}

test.serial("a new password ends the mails of resets and recoveries that wait", async (t) => {
  const { email, userId } = await makeMember();
  const other = await makeMember();
  await mailedLinks(email);
  const ask = (address: string) => calls.requestPasswordReset({ email: address });
  await ask(email.toUpperCase());
  await ask(other.email);
  await changePassword(userId);
  t.deepEqual(await waitingKinds(email), ["password_changed"]);
  t.deepEqual(await waitingKinds(other.email), ["password_reset"], "those of others stay");
  await mailedLinks(other.email);

  await ask(email);
  await operate("recover_account", { user_id: userId, email });
  const taken = await withClient(exchange.workers, async (worker) => [
    await nextMail(worker),
    await nextMail(worker),
  ]);
  const link = taken.find((mail) => mail?.kind === "recovery");
  t.true((await waitingKinds(email)).includes("recovery"), "it is tried again");
  await reset(link!.tokenHash);
  t.deepEqual(new Set(await waitingKinds(email)), new Set(["password_changed"]));
});

test.serial("the present address hears of a change that was asked for", async (t) => {
  const { email, userId } = await makeMember();
  await mailedLinks(email);
  const asked = { email: `other-${email}` };
  await changeEmail(userId, asked.email);
  const rows = await exchange.query(
    "select address, details from identity.mails where kind = 'email_change_asked' and address = $1",
    [email],
  );
  t.deepEqual(rows, [{ address: email, details: { email: asked.email } }]);
});

test.serial("INVALID_REQUEST: a change to the own address", async (t) => {
  const { email, userId } = await makeMember();
  await t.throwsAsync(changeEmail(userId, email.toUpperCase()), { code: "EX001" });
});

test.serial("the link of a sign-up stays good when the password is changed", async (t) => {
  await operate("set_sign_up", { policy: "open" });
  const email = "fresh@links.example";
  const { userId } = await calls.signUp({ ...given, email, handle: "fresh" });
  const [link] = await mailedLinks(email);
  await changePassword(userId);
  t.is(await confirm(link!), null, "a proof is missing");
  t.like(JSON.parse((await confirm(link!, userId))!), { email });
});

test.serial("INVALID_LINK: an invitation is good once in all its forms", async (t) => {
  await operate("set_sign_up", { policy: "invitation" });
  const email = "twice@links.example";
  const first = linkHashOf(await operate("invite_user", { email }));
  const [mailed] = await mailedLinks(email);
  const second = linkHashOf(await operate("invite_user", { email: email.toUpperCase() }));
  const ofAnother = linkHashOf(await operate("invite_user", { email: "another@links.example" }));
  const { userId } = await signUp(email, second);
  await exchange.query(
    "update identity.users set email = 'moved@links.example' where public_id = $1",
    [userId],
  );
  for (const link of [first, mailed!, second])
    await t.throwsAsync(signUp(email, link), invalidLink);
  t.deepEqual(await mailedLinks(email.toUpperCase()), [], "none is sent any more");
  t.truthy((await signUp("another@links.example", ofAnother)).userId);
});

test.serial(
  "INVALID_REQUEST: nobody is invited to an address that is too long to sign up with",
  async (t) => {
    const email = `${"x".repeat(320)}@links.example`;
    await t.throwsAsync(operate("invite_user", { email }), {
      code: "EX001",
      message: /at most 320 characters/,
    });
  },
);
