import { createHash } from "node:crypto";
import test from "ava";
import { call } from "../../../src/database/call.ts";
import { api, jobs } from "../../../src/database/calls.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** Links: each is good once, for its purpose and its user only. */

const exchange = testExchange(test);
const { operate } = exchange;

const passwordHash = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$ZGlnZXN0";
const invalidLink = { code: "EX029" };
const open = { isHostOnly: false };

const on = async <T>(work: (client: any) => Promise<T>): Promise<T> => {
  const client = await exchange.api.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
};

const hashOf = (token: string) => createHash("sha256").update(token).digest();
const hashOfPath = (path: string) => hashOf(path.split("#")[1]!);

const given = { ...open, displayName: "Member", passwordHash };
let made = 0;

async function makeMember(): Promise<{ email: string; userId: string }> {
  const number = (made += 1);
  const email = `member-${number}@links.example`;
  const invitationHash = hashOfPath(await operate("invite_user", { email }));
  await operate("set_sign_up", { policy: "invitation" });
  const { userId } = await on((client) =>
    call(client, api.signUp, { ...given, email, handle: `member-${number}`, invitationHash }),
  );
  return { email, userId };
}

/** The hashes of the links in the mails to this address that are due. */
async function mailedLinks(email: string): Promise<Buffer[]> {
  const client = await exchange.database.connectAs("exchange_worker").connect();
  const hashes: Buffer[] = [];
  try {
    for (;;) {
      const mail = await call(client, jobs.takeMail, {});
      if (mail === undefined) return hashes;
      await call(client, jobs.finishMail, { mailId: mail.mailId });
      if (mail.address === email && mail.token !== null) hashes.push(hashOf(mail.token));
    }
  } finally {
    client.release();
  }
}

const reset = (tokenHash: Buffer) =>
  on((client) => call(client, api.resetPassword, { ...open, tokenHash, passwordHash }));
const signInByLink = (tokenHash: Buffer) =>
  on((client) => call(client, api.signInByLink, { ...open, tokenHash }));
const signUp = (email: string, invitationHash: Buffer) =>
  on((client) => {
    const handle = `guest-${(made += 1)}`;
    return call(client, api.signUp, { ...given, email, handle, invitationHash });
  });

test.serial("INVALID_LINK: an invitation is good once, and for its address", async (t) => {
  await operate("set_sign_up", { policy: "invitation" });
  const email = "guest@links.example";
  const invitation = hashOfPath(await operate("invite_user", { email }));
  await t.throwsAsync(signUp("other@links.example", invitation), invalidLink);
  t.truthy((await signUp(email.toUpperCase(), invitation)).userId);
  await t.throwsAsync(signUp(email, invitation), invalidLink);
});

test.serial("INVALID_LINK: a link of another kind", async (t) => {
  const { email, userId } = await makeMember();
  await on((client) => call(client, api.requestPasswordReset, { email }));
  const ofMail = (await mailedLinks(email)).at(-1);
  const ofOperator = hashOfPath(await operate("sign_in_link", { user_id: userId }));
  await t.throwsAsync(reset(ofOperator), invalidLink);
  await t.throwsAsync(signInByLink(ofMail!), invalidLink);
  await t.throwsAsync(
    on((client) => call(client, api.confirmEmail, { tokenHash: ofMail! })),
    invalidLink,
  );
  t.is((await signInByLink(ofOperator)).userId, userId, "each is still good for its purpose");
  t.is((await reset(ofMail!)).userId, userId);
});

test.serial(
  "INVALID_LINK: another link of the same kind and user, once one was used",
  async (t) => {
    const { userId } = await makeMember();
    const other = await makeMember();
    const link = async (user_id: string) => hashOfPath(await operate("sign_in_link", { user_id }));
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
  const link = hashOfPath(await operate("sign_in_link", { user_id: userId }));
  await on((client) =>
    call(client, api.changePassword, { ...open, userId, currentHash: passwordHash, passwordHash }),
  );
  await t.throwsAsync(signInByLink(link), invalidLink);
});
