import test from "ava";
import { hashPassword } from "../../src/accounts/passwords.ts";
import { routes } from "../../src/api/routes.ts";
import { assertionOf, attestationOf, makePasskey } from "../helpers/http/authenticator.ts";
import type { Passkey } from "../helpers/http/authenticator.ts";
import { testService } from "../helpers/http/test_service.ts";
import { until } from "../helpers/until.ts";
import { makeMember, makeVisitor, takeMails } from "../helpers/http/visitor.ts";
import type { Visitor } from "../helpers/http/visitor.ts";

/** An account that a thief got into: what freezing it stops, and how its owner gets it back. */

const service = testService(test, { playMoneyCents: 0 });
const { call, makeMarket, operate } = service;

const siteOf = () => ({ origin: service.url, rpId: new URL(service.url).hostname });
const freeze = (user_id: string, more = {}) =>
  operate("freeze_user", { user_id, reason: "taken over", ...more });
const unfreeze = (user_id: string) =>
  operate("unfreeze_user", { user_id, reason: "owner is back" });
const recover = (user_id: string, email: string) => operate("recover_account", { user_id, email });

async function signIn(email: string, password: string) {
  const visitor = makeVisitor(service);
  const answer = await visitor.call("POST", "/api/account/sign-in", {
    body: { email, password },
  });
  return { visitor, status: answer.status };
}

async function addPasskey(visitor: Visitor) {
  const { body } = await visitor.call("POST", "/api/account/passkeys/options");
  const passkey = makePasskey(body.user.id);
  const ceremony = { ...siteOf(), challenge: body.challenge as string };
  const credential = attestationOf(passkey, ceremony);
  const body_ = { name: "phone", credential };
  const added = await visitor.call("POST", "/api/account/passkeys", { body: body_ });
  return { passkey, id: added.body.id as string, status: added.status };
}

async function signInByPasskey(passkey: Passkey) {
  const visitor = makeVisitor(service);
  const options = await visitor.call("POST", "/api/account/sign-in-passkey/options");
  const credential = assertionOf(passkey, { ...siteOf(), challenge: options.body.challenge });
  const answer = await visitor.call("POST", "/api/account/sign-in-passkey", {
    body: { credential },
  });
  return { visitor, status: answer.status };
}

/** A member with a key and a passkey, who has asked for another address and for a new password. */
async function makeVictim() {
  const member = await makeMember(service);
  const { visitor, person, userId } = member;
  await operate("set_loss_limits", {
    ...{ user_id: userId, day_cents: 1000, week_cents: 1000, month_cents: 1000 },
  });
  const made = await visitor.call("POST", "/api/account/keys", { body: { name: "bot" } });
  const passkey = await addPasskey(visitor);
  await visitor.call("POST", "/api/account/email", {
    body: { email: `thief-of-${userId}@evil.example`, password: person.password },
  });
  await visitor.call("POST", "/api/account/password-reset", { body: { email: person.email } });
  const mails = await takeMails(service.worker);
  const tokenOf = (kind: string) => mails.find((mail) => mail.kind === kind)?.token;
  return {
    ...member,
    key: made.body.key as string,
    keyId: made.body.id as string,
    ...passkey,
    passkeyId: passkey.id,
    confirmation: tokenOf("confirm_email"),
    reset: tokenOf("password_reset"),
  };
}
type Victim = Awaited<ReturnType<typeof makeVictim>>;

/** What every route that changes an account is asked for, and what a frozen account answers. */
const changes: Record<string, [code: number, body?: (victim: Victim) => object]> = {
  changeOwnProfile: [403, () => ({ handle: "stolen" })],
  setOwnLimits: [403, () => ({ dayCents: 2000, weekCents: 2000, monthCents: null })],
  confirmOwnAge: [200, () => ({ confirmedAge: 18 })],
  setRealityCheck: [200, () => ({ everyMinutes: null })],
  goOnAfterRealityCheck: [200],
  changePassword: [
    403,
    ({ person }) => ({ currentPassword: person.password, newPassword: "stolen by a thief" }),
  ],
  resetPassword: [403, ({ reset }) => ({ token: reset, password: "stolen by a thief" })],
  changeEmail: [403, ({ person }) => ({ email: "thief@evil.example", password: person.password })],
  confirmEmail: [
    403,
    ({ confirmation, person }) => ({ token: confirmation, password: person.password }),
  ],
  createKey: [403, () => ({ name: "stolen" })],
  rotateKey: [403, () => ({ overlapSeconds: 0 })],
  startPasskey: [403],
  removePasskey: [403],
  // The address that was asked for before is the same, and its link does nothing.
  resendConfirmation: [200],
  // What ends access, or stops trading.
  revokeKey: [200],
  revokeKeys: [200],
  endSession: [404],
  endOtherSessions: [200],
  excludeSelf: [200, () => ({ until: null })],
};
/** These begin or end a session; addPasskey needs the answer of startPasskey, and has its own test. */
const others = [
  ...["signUp", "signIn", "signInByLink", "startPasskeySignIn", "signInByPasskey", "signOut"],
  ...["requestPasswordReset", "addPasskey", "getLink"],
];

test("every route that changes an account is named here", (t) => {
  const changing = routes.filter(({ tag, method }) => tag === "Account" && method !== "get");
  const names = changing.map(({ operationId }) => operationId);
  t.deepEqual(names.toSorted(), [...Object.keys(changes), ...others].toSorted());
});

test.serial(
  "a frozen account is signed out; a new session reads, and changes nothing",
  async (t) => {
    const victim = await makeVictim();
    const { userId, person, visitor, passkey } = victim;
    await freeze(userId);
    t.is(await visitor.token(), undefined, "the session has ended");
    const byPassword = await signIn(person.email, person.password);
    t.is(byPassword.status, 200);
    t.is((await signInByPasskey(passkey)).status, 200);
    const thief = byPassword.visitor;
    const before = (await thief.call("GET", "/api/account")).body;
    t.true(before.frozen);
    for (const [name, [status, bodyOf]] of Object.entries(changes)) {
      const { method, path } = routes.find(({ operationId }) => operationId === name)!;
      const id = path.includes("/keys/") ? victim.keyId : victim.passkeyId;
      const answer = await thief.call(method.toUpperCase(), path.replace(":id", id), {
        ...(bodyOf && { body: bodyOf(victim) }),
      });
      t.is(answer.status, status, `${name}: ${JSON.stringify(answer.body)}`);
      if (status === 403) t.is(answer.body.code, "ACCOUNT_FROZEN", name);
    }
    const { exclusion, ...after } = (await thief.call("GET", "/api/account")).body;
    t.deepEqual(exclusion, { until: null });
    t.deepEqual({ ...after, exclusion: null }, before);
  },
);

test.serial("ACCOUNT_FROZEN: a passkey whose challenge is older than the freeze", async (t) => {
  const { visitor, userId } = await makeMember(service);
  const { body } = await visitor.call("POST", "/api/account/passkeys/options");
  await freeze(userId, { keep_sessions: true });
  const credential = attestationOf(makePasskey(body.user.id), {
    ...siteOf(),
    challenge: body.challenge,
  });
  const answer = await visitor.call("POST", "/api/account/passkeys", {
    body: { name: "phone", credential },
  });
  t.deepEqual([answer.status, answer.body.code], [403, "ACCOUNT_FROZEN"]);
});

test.serial("keep_sessions leaves the user signed in, to read and to lower limits", async (t) => {
  const { visitor, userId, key } = await makeVictim();
  await freeze(userId, { keep_sessions: true });
  t.true((await visitor.call("GET", "/api/account")).body.frozen);
  const lower = { dayCents: 500, weekCents: 1000, monthCents: 1000 };
  t.is((await visitor.call("PUT", "/api/account/limits", { body: lower })).status, 200);
  t.is((await call("GET", "/api/v1/me", { key })).status, 200, "keys read");
});

test.serial(
  "a link of a change or of a new password is good again when it is unfrozen",
  async (t) => {
    const { userId, person, reset } = await makeVictim();
    await freeze(userId);
    const body = { token: reset, password: "a new one of the owner" };
    const path = "/api/account/password-reset/confirm";
    t.is((await makeVisitor(service).call("POST", path, { body })).status, 403);
    await unfreeze(userId);
    t.is((await makeVisitor(service).call("POST", path, { body })).status, 200);
    t.is((await signIn(person.email, body.password)).status, 200);
  },
);

test.serial("a session that began while the account was frozen ends with the freeze", async (t) => {
  const { userId, person, visitor: owner } = await makeVictim();
  await freeze(userId, { keep_sessions: true });
  const thief = await signIn(person.email, person.password);
  t.truthy(await thief.visitor.token());
  // A hash with other settings is made anew at a sign-in: it is the same password.
  await service.database.pool.query(
    `update identity.passwords set password_hash = $2
     from identity.users as u where u.id = user_id and u.public_id = $1`,
    [userId, await hashPassword(person.password, "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ")],
  );
  const again = [1, 2].map(() => signIn(person.email, person.password));
  const rehashed = await Promise.all(again);
  const last = await signIn(person.email, person.password);
  await unfreeze(userId);
  for (const { visitor } of [thief, ...rehashed, last]) t.is(await visitor.token(), undefined);
  t.truthy(await owner.token(), "one that began before stays");
  t.is((await signIn(person.email, person.password)).status, 200);
});

test.serial("a session has the address of its sign-in before it asks for a token", async (t) => {
  const { userId, person } = await makeVictim();
  await operate("end_sessions", { user_id: userId });
  await signIn(person.email, person.password);
  const { rows } = await service.database.pool.query(
    "select last_address from admin.user_access(user_id => $1) where kind = 'session'",
    [userId],
  );
  t.deepEqual(rows, [{ last_address: "127.0.0.1" }]);
});

test.serial("frozen, recovered, unfrozen: the owner is in, and the thief is out", async (t) => {
  const victim = await makeVictim();
  const { userId, person, key, passkey, reset, confirmation } = victim;
  const linkPath: string = await operate("sign_in_link", { user_id: userId });
  await freeze(userId);
  const thief = await signIn(person.email, person.password);
  const email = `owner-of-${userId}@mail.example`;
  await recover(userId, email);

  t.is(await thief.visitor.token(), undefined);
  t.is((await signIn(person.email, person.password)).status, 401);
  t.is((await signIn(email, person.password)).status, 401);
  t.is((await signInByPasskey(passkey)).status, 403);
  const { rows: access } = await service.database.pool.query(
    "select * from admin.user_access(user_id => $1)",
    [userId],
  );
  t.deepEqual(access, []);

  const mails = await takeMails(service.worker);
  t.deepEqual(mails.map(({ kind, to }) => [kind, to]).toSorted(), [
    ["email_changed", person.email],
    ["new_sign_in", person.email],
    ["recovery", email],
  ]);
  const { token } = mails.find(({ kind }) => kind === "recovery")!;
  const set = (body: object) =>
    makeVisitor(service).call("POST", "/api/account/password-reset/confirm", { body });
  const password = "the owner's own password";
  t.is((await set({ token: reset, password })).body.code, "INVALID_LINK", "the former link");
  const owner = makeVisitor(service);
  const answer = await owner.call("POST", "/api/account/password-reset/confirm", {
    body: { token, password },
  });
  t.is(answer.status, 200, "while the account is frozen");
  t.is((await set({ token, password })).body.code, "INVALID_LINK", "it is good once");
  t.like((await owner.call("GET", "/api/account")).body, { email, frozen: true, newEmail: null });

  await unfreeze(userId);
  t.is((await signIn(email, password)).status, 200);
  const made = await owner.call("POST", "/api/account/keys", { body: { name: "new" } });
  t.is(made.status, 201);
  await operate("deposit", { user_id: userId, amount_cents: 500, reference: "in" });
  const order = { marketId: await makeMarket(), side: "yes", price: 40, quantity: 1 };
  const placed = (auth: string) => call("POST", "/api/v1/orders", { key: auth, body: order });
  t.is((await placed(made.body.key)).status, 201);

  t.is((await signIn(email, person.password)).status, 401);
  t.is((await signIn(person.email, person.password)).status, 401);
  t.is((await signInByPasskey(passkey)).status, 403);
  service.context.authenticator.forget(victim.keyId);
  t.is((await placed(key)).status, 401);
  const confirm = { token: confirmation, password };
  const confirmed = await makeVisitor(service).call("POST", "/api/account/email/confirm", {
    body: confirm,
  });
  t.not(confirmed.status, 200);
  const byLink = await makeVisitor(service).call("POST", "/api/account/sign-in-link", {
    body: { token: linkPath.split("#")[1] },
  });
  t.is(byLink.body.code, "INVALID_LINK");
  const asked = await makeVisitor(service).call("POST", "/api/account/password-reset", {
    body: { email: person.email },
  });
  t.is(asked.status, 200);
  const later = await takeMails(service.worker);
  t.deepEqual(
    later.filter(({ to }) => to === person.email),
    [],
    "no reset at the address before",
  );
});

test.serial(
  "admin.user_access shows from where sessions, keys and passkeys were used",
  async (t) => {
    const { userId, key, passkey } = await makeVictim();
    await call("GET", "/api/v1/me", { key });
    const { visitor } = await signInByPasskey(passkey);
    await visitor.call("POST", "/api/account/sign-out");
    const used = async () =>
      (
        await service.database.pool.query(
          `select kind, name, last_used_at > created_at as is_used, last_address,
           expires_at is null as stays
         from admin.user_access(user_id => $1) order by kind`,
          [userId],
        )
      ).rows;
    await until("the use of the key is recorded", async () => (await used())[0].is_used);
    const row = { is_used: true, last_address: "127.0.0.1", stays: true };
    t.deepEqual(await used(), [
      { ...row, kind: "key", name: "bot" },
      { ...row, kind: "passkey", name: "phone" },
      { ...row, kind: "session", name: "Firefox", stays: false, is_used: false },
    ]);
  },
);
