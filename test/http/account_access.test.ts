import { randomBytes } from "node:crypto";
import test from "ava";
import { formatSecret } from "../../src/secrets.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { testService } from "../helpers/http/test_service.ts";
import { anybody, makeMember, makeVisitor, takeMails } from "../helpers/http/visitor.ts";

/** Signing up, in and out; passwords and e-mail addresses. */

const service = testService(test, { playMoneyCents: 100_000 });
const { operate } = service;

const member = () => makeMember(service);

const signIn = (visitor: ReturnType<typeof makeVisitor>, email: string, password: string) =>
  visitor.call("POST", "/api/account/sign-in", { body: { email, password } });

test.serial(
  "sign-up makes a session and an account; the link confirms address and handle",
  async (t) => {
    const visitor = makeVisitor(service);
    const person = anybody();
    const answer = await visitor.call("POST", "/api/account/sign-up", { body: person });
    t.is(answer.status, 201);
    t.false(answer.body.emailConfirmed);
    const [cookie] = answer.headers.getSetCookie();
    t.regex(
      cookie!,
      /^pgmarkets_session=js_\w{49}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
    );

    const before = (await visitor.call("GET", "/api/account")).body;
    t.is(before.id, answer.body.userId);
    t.is(before.email, person.email);
    t.is(before.handle, person.handle);
    t.false(before.emailConfirmed);
    t.is(before.balance, 100_000, "play money");
    const { rows: movements } = await service.database.pool.query(
      `select kind, reference, amount_cents from admin.cash_movements where user_id = $1`,
      [before.id],
    );
    const playMoney = { kind: "bonus", reference: "play money", amount_cents: 100_000 };
    t.deepEqual(movements, [playMoney]);
    t.is(before.limits.reviewedAt, null);

    const [mail, ...others] = await takeMails(service.worker);
    t.deepEqual(others, []);
    t.is(mail!.to, person.email);
    t.regex(mail!.text, /^https:\/\/site\.example\/confirm#jl_\w{49}$/m);
    const { rows } = await service.database.pool.query(
      "select row_to_json(x)::text as row from (select l.*, m.* from identity.links l, identity.mails m) x",
    );
    t.false(JSON.stringify(rows).includes(mail!.token!), "the token is nowhere in the database");

    const confirm = await visitor.call("POST", "/api/account/email/confirm", {
      body: { token: mail!.token },
    });
    t.is(confirm.status, 200);
    t.deepEqual(confirm.body, { email: person.email, handle: person.handle });
    const after = (await visitor.call("GET", "/api/account")).body;
    t.true(after.emailConfirmed);
    t.is((await visitor.call("GET", "/api/v1/me")).body.email, person.email);

    const again = await visitor.call("POST", "/api/account/email/confirm", {
      body: { token: mail!.token },
    });
    t.deepEqual([again.status, again.body.code], [400, "INVALID_LINK"], "a link is good once");
  },
);

test.serial(
  "an e-mail address and a password are enough: name and handle are made, of nothing else",
  async (t) => {
    const [one, other] = [anybody(), anybody()];
    const handles: string[] = [];
    for (const { email, password } of [one, other]) {
      const visitor = makeVisitor(service);
      const body = { email, password };
      const answer = await visitor.call("POST", "/api/account/sign-up", { body });
      t.is(answer.status, 201);
      const [mail] = await takeMails(service.worker);
      const token = mail!.token;
      await visitor.call("POST", "/api/account/email/confirm", { body: { token } });
      const { handle, displayName } = (await visitor.call("GET", "/api/account")).body;
      t.regex(handle, /^trader-[0-9a-f]{10}$/);
      t.is(displayName, handle);
      handles.push(handle);
    }
    t.not(handles[0], handles[1]);
  },
);

test.serial(
  "sign-up answers the same when address and handle are taken; the owner gets a mail",
  async (t) => {
    const { person } = await member();
    const stranger = makeVisitor(service);
    const other = anybody();
    const fresh = await makeVisitor(service).call("POST", "/api/account/sign-up", { body: other });
    const taken = await stranger.call("POST", "/api/account/sign-up", {
      body: { ...other, email: person.email.toUpperCase(), handle: person.handle },
    });
    t.is(taken.status, fresh.status);
    t.deepEqual(Object.keys(taken.body), Object.keys(fresh.body));
    t.deepEqual(
      [...taken.headers.keys()].filter((name) => name !== "x-request-id").toSorted(),
      [...fresh.headers.keys()].filter((name) => name !== "x-request-id").toSorted(),
    );
    const profile = (await stranger.call("GET", "/api/account")).body;
    t.is(profile.handle, person.handle, "what was asked for");
    const claimed = await stranger.call("PATCH", "/api/account/profile", {
      body: { handle: person.handle.toUpperCase() },
    });
    t.is(claimed.status, 200, "the answer to a change of handle is the same too");

    const mails = await takeMails(service.worker);
    const toOwner = mails.filter(({ to }) => to.toLowerCase() === person.email.toLowerCase());
    t.deepEqual(
      toOwner.map(({ kind, token }) => [kind, token]),
      [["address_taken", undefined]],
    );
    t.is((await signIn(makeVisitor(service), person.email, other.password)).status, 401);
    t.is((await signIn(makeVisitor(service), person.email, person.password)).status, 200);
  },
);

test.serial(
  "409 ALREADY_EXISTS: that the handle is taken is said after the address is proven",
  async (t) => {
    const { person } = await member();
    const visitor = makeVisitor(service);
    const late = { ...anybody(), handle: person.handle.toUpperCase() };
    await visitor.call("POST", "/api/account/sign-up", { body: late });
    const [mail] = await takeMails(service.worker);
    const confirm = (more = {}) =>
      visitor.call("POST", "/api/account/email/confirm", { body: { token: mail!.token, ...more } });
    const refused = await confirm();
    t.deepEqual([refused.status, refused.body.code], [409, "ALREADY_EXISTS"]);
    const accepted = await confirm({ handle: `${late.handle}-2` });
    t.deepEqual(accepted.body, { email: late.email, handle: `${late.handle}-2` });
  },
);

test.serial("of two users who claim an address the owner of the mailbox gets it", async (t) => {
  const owner = anybody();
  const [first, second] = [makeVisitor(service), makeVisitor(service)];
  await first.call("POST", "/api/account/sign-up", { body: owner });
  const [early] = await takeMails(service.worker);
  await second.call("POST", "/api/account/sign-up", {
    body: { ...owner, handle: `${owner.handle}-b`, password: "another long one" },
  });
  const [late] = await takeMails(service.worker);
  t.is(late!.kind, "confirm_email", "no account has it yet");
  const confirm = (visitor: ReturnType<typeof makeVisitor>, token?: string) =>
    visitor.call("POST", "/api/account/email/confirm", { body: { token } });
  t.is((await confirm(second, late!.token)).status, 200);
  const refused = await confirm(first, early!.token);
  t.deepEqual([refused.status, refused.body.code], [409, "ALREADY_EXISTS"]);
  t.is((await signIn(makeVisitor(service), owner.email, "another long one")).status, 200);
});

test.serial(
  "the link of a sign-up needs the session or the password of the account that the mail names",
  async (t) => {
    const person = { ...anybody(), displayName: "www.evil.example Bob" };
    const maker = makeVisitor(service);
    await maker.call("POST", "/api/account/sign-up", { body: person });
    const [mail] = await takeMails(service.worker);
    t.regex(mail!.text, new RegExp(`^Handle: ${person.handle}$`, "m"));
    t.regex(mail!.text, /^Name: +evil\. example Bob$/m);
    t.regex(mail!.text, /ignore this mail/);
    const { visitor: another } = await member();
    const confirm = (visitor: ReturnType<typeof makeVisitor>, password?: string) =>
      visitor.call("POST", "/api/account/email/confirm", {
        body: { token: mail!.token, ...(password !== undefined && { password }) },
      });
    const guest = makeVisitor(service);
    for (const refused of [
      await confirm(guest),
      await confirm(another),
      await confirm(guest, "not the password"),
      await confirm(another, ""),
    ]) {
      t.is(refused.status, 401);
      t.deepEqual(refused.body, { error: "Wrong e-mail or password" });
    }
    t.false((await maker.call("GET", "/api/account")).body.emailConfirmed);
    const done = await confirm(guest, person.password);
    t.deepEqual(done.body, { email: person.email, handle: person.handle });
    t.deepEqual(done.headers.getSetCookie(), []);
    t.true((await maker.call("GET", "/api/account")).body.emailConfirmed);
  },
);

test.serial(
  "401 WRONG_CREDENTIALS: one answer for a wrong password and for a wrong address",
  async (t) => {
    const { person } = await member();
    const wrong = [
      await signIn(makeVisitor(service), person.email, "not the password"),
      await signIn(makeVisitor(service), "unknown@test.example", person.password),
      await signIn(makeVisitor(service), "no address at all", person.password),
    ];
    for (const { status, body, headers } of wrong) {
      t.is(status, 401);
      t.deepEqual(body, { error: "Wrong e-mail or password" });
      t.deepEqual(headers.getSetCookie(), []);
    }
  },
);

test.serial(
  "sign-in needs a confirmed address: an unconfirmed one has the same answer as none",
  async (t) => {
    const person = anybody();
    const visitor = makeVisitor(service);
    await visitor.call("POST", "/api/account/sign-up", { body: person });
    t.is((await signIn(makeVisitor(service), person.email, person.password)).status, 401);
    const refused = await visitor.call("POST", "/api/account/keys", { body: { name: "bot" } });
    t.deepEqual([refused.status, refused.body.code], [403, "EMAIL_UNCONFIRMED"]);
    const { id } = (await visitor.call("GET", "/api/account")).body;
    await operate("create_api_key", { user_id: id, name: "bot" });
    const [key] = (await visitor.call("GET", "/api/account/keys")).body.data;
    const rotate = (keyId: string) =>
      visitor.call("POST", `/api/account/keys/${keyId}/rotate`, { body: {} });
    t.is((await rotate(key.id)).body.code, "EMAIL_UNCONFIRMED");
    t.is((await rotate(id)).status, 404, "no key of this user");
    await takeMails(service.worker);
  },
);

test.serial(
  "every sign-in makes another cookie, and ends the session that the browser had",
  async (t) => {
    const { person, visitor } = await member();
    const old = visitor.cookie!;
    const planted = makeVisitor(service);
    planted.cookie = old;
    t.is((await signIn(visitor, person.email, person.password)).status, 200);
    t.not(visitor.cookie, old);
    t.is(await planted.token(), undefined, "the old one has ended");
    const { data } = (await visitor.call("GET", "/api/account/sessions")).body;
    t.is(data.length, 1);
    await takeMails(service.worker);
  },
);

test.serial("sign-out ends the session and takes the cookie back", async (t) => {
  const { visitor } = await member();
  const { cookie } = visitor;
  const answer = await visitor.call("POST", "/api/account/sign-out");
  t.is(answer.status, 200);
  t.regex(answer.headers.getSetCookie()[0]!, /^pgmarkets_session=; Path=\/; Max-Age=0; HttpOnly/);
  t.is(visitor.cookie, undefined);
  visitor.cookie = cookie;
  t.is(await visitor.token(), undefined);
});

test.serial("a change of password ends all sessions and rotates that of the browser", async (t) => {
  const { person, visitor } = await member();
  const elsewhere = makeVisitor(service, "Chromium");
  await signIn(elsewhere, person.email, person.password);
  const wrong = await visitor.call("PUT", "/api/account/password", {
    body: { currentPassword: "wrong password", newPassword: "a new long password" },
  });
  t.deepEqual([wrong.status, wrong.body.code], [403, "WRONG_PASSWORD"]);
  const old = visitor.cookie;
  const changed = await visitor.call("PUT", "/api/account/password", {
    body: { currentPassword: person.password, newPassword: "a new long password" },
  });
  t.is(changed.status, 200);
  t.not(visitor.cookie, old);
  t.is((await visitor.call("GET", "/api/account")).status, 200);
  t.is(await elsewhere.token(), undefined);
  t.is((await signIn(elsewhere, person.email, person.password)).status, 401);
  t.is((await signIn(elsewhere, person.email, "a new long password")).status, 200);
  const mails = await takeMails(service.worker);
  t.deepEqual(
    mails.map(({ kind }) => kind),
    ["new_sign_in", "password_changed", "new_sign_in"],
    "a new password knows the other browser no more",
  );
});

test.serial("a password is reset by the link of a mail, which is good once", async (t) => {
  const { person, visitor } = await member();
  const ask = (email: string) =>
    makeVisitor(service).call("POST", "/api/account/password-reset", { body: { email } });
  const [known, unknown] = [await ask(person.email), await ask("unknown@test.example")];
  t.deepEqual([known.status, known.body], [unknown.status, unknown.body]);
  const [mail, ...others] = await takeMails(service.worker);
  t.deepEqual(others, [], "nothing goes to an address without an account");
  t.regex(mail!.text, /\/reset#jl_/);

  const reset = (token?: string) =>
    makeVisitor(service).call("POST", "/api/account/password-reset/confirm", {
      body: { token, password: "after the reset" },
    });
  t.is((await reset(formatSecret(randomBytes(32), "jl_"))).body.code, "INVALID_LINK");
  t.is((await reset("nonsense")).body.code, "INVALID_LINK");
  const done = await reset(mail!.token);
  t.is(done.status, 200);
  t.is(done.headers.getSetCookie().length, 2, "a session, and the mark of the browser");
  t.is((await reset(mail!.token)).body.code, "INVALID_LINK");
  t.deepEqual(done.body.waysIn, { sessions: 1, passkeys: 0, apiKeys: 0 });
  t.is(await visitor.token(), undefined, "all sessions have ended");
  t.is((await signIn(visitor, person.email, "after the reset")).status, 200);
  await takeMails(service.worker);
});

test.serial("a link that has expired is none", async (t) => {
  const clock = testClock(service.database.pool);
  const { person, visitor } = await member();
  await visitor.call("POST", "/api/account/password-reset", { body: { email: person.email } });
  const [mail] = await takeMails(service.worker);
  await clock.advance(3_600_000);
  const late = await visitor.call("POST", "/api/account/password-reset/confirm", {
    body: { token: mail!.token, password: "after the reset" },
  });
  t.is(late.body.code, "INVALID_LINK");
  await clock.release();
});

test.serial("an address is changed by the link to the new one, in the own session", async (t) => {
  const { person, visitor } = await member();
  const { visitor: another, person: other } = await member();
  const email = "moved@test.example";
  const change = (password: string) =>
    visitor.call("POST", "/api/account/email", { body: { email, password } });
  t.is((await change("wrong password")).body.code, "WRONG_PASSWORD");
  t.is((await change(person.password)).status, 200);
  const { body } = await visitor.call("GET", "/api/account");
  t.deepEqual([body.email, body.newEmail], [person.email, email]);
  const [mail] = await takeMails(service.worker);
  t.is(mail!.to, email);
  t.regex(mail!.text, new RegExp(`^Handle: ${person.handle}$`, "m"));
  t.regex(mail!.text, /^Present address: V\.\.\.@test\.example$/m);
  const { token } = mail!;
  const confirm = (who: typeof visitor, given: object = {}) =>
    who.call("POST", "/api/account/email/confirm", { body: { token, ...given } });
  const guest = makeVisitor(service);
  for (const refused of [
    await confirm(guest),
    await confirm(another),
    await confirm(guest, { password: "wrong password" }),
    await confirm(another, { password: other.password }),
  ]) {
    t.deepEqual([refused.status, refused.body], [401, { error: "Wrong e-mail or password" }]);
  }
  const look = await guest.call("POST", "/api/account/link", { body: { token } });
  const { displayName, handle } = person;
  const account = { displayName, handle, presentEmail: "V...@test.example" };
  t.deepEqual(look.body, { kind: "confirm_email", email, account, waysIn: null });
  t.is((await visitor.call("GET", "/api/account")).body.email, person.email);
  t.is((await confirm(visitor)).status, 200);
  const after = (await visitor.call("GET", "/api/account")).body;
  t.deepEqual([after.email, after.newEmail, after.handle], [email, null, person.handle]);
  const [notice] = await takeMails(service.worker);
  t.deepEqual([notice!.kind, notice!.to], ["email_changed", person.email]);
});

test.serial("an address is changed by the link to the new one, with the password", async (t) => {
  const { person, visitor } = await member();
  const email = "moved-too@test.example";
  const { password } = person;
  await visitor.call("POST", "/api/account/email", { body: { email, password } });
  const [mail] = await takeMails(service.worker);
  const body = { token: mail!.token, password };
  const done = await makeVisitor(service).call("POST", "/api/account/email/confirm", { body });
  t.deepEqual(done.body, { email, handle: person.handle });
  t.deepEqual(done.headers.getSetCookie(), []);
  await takeMails(service.worker);
});

test.serial(
  "400 INVALID_REQUEST: passwords of 10 to 200 characters, none that is easy to guess",
  async (t) => {
    const password = async (text: string) => {
      const body = { ...anybody(), password: text };
      const answer = await makeVisitor(service).call("POST", "/api/account/sign-up", { body });
      return answer.body.error;
    };
    t.is(await password("x1y2z3a4b"), "password: must have 10 to 200 characters");
    t.is(await password("xy".repeat(101)), "password: must have 10 to 200 characters");
    t.is(await password("Password123"), "password: is one of the most common passwords");
    t.is(await password("🐎🔋📎✅".repeat(2)), "password: must have 10 to 200 characters");
    t.is(await password("0 correct \u0000 horse"), undefined);
    const body = { ...anybody(), email: "anna@test.example", password: "anna@test.example1" };
    const like = await makeVisitor(service).call("POST", "/api/account/sign-up", { body });
    t.deepEqual(like.body.issues, [
      { path: "password", message: "has little besides your e-mail address or handle" },
    ]);
    await takeMails(service.worker);
  },
);

test.serial(
  "400 INVALID_REQUEST: names with control characters, addresses that are none",
  async (t) => {
    const refused = async (part: object) => {
      const body = { ...anybody(), ...part };
      return (await makeVisitor(service).call("POST", "/api/account/sign-up", { body })).body.error;
    };
    t.is(await refused({ displayName: "a\u0000b" }), "displayName: must be one line of text");
    t.is(await refused({ displayName: "  " }), "displayName: must not be blank");
    for (const displayName of [
      "Ann\u202eB",
      "Ann\u200bB",
      "Ann\u2066B",
      "Ann\ufeffB",
      "Ann\u2028B",
    ]) {
      t.is(await refused({ displayName }), "displayName: must have no invisible characters");
    }
    t.is(
      await refused({ handle: "a b" }),
      "handle: must have 1 to 40 letters, digits, or any of _.-",
    );
    t.is(await refused({ email: "a@b\r\nBcc: c@d.example" }), "email: must be an e-mail address");
  },
);

test.serial("the address of a picture is kept in normal form, without quotes", async (t) => {
  const { visitor } = await member();
  const change = async (avatarUrl: string) =>
    (await visitor.call("PATCH", "/api/account/profile", { body: { avatarUrl } })).body;
  t.is((await change("HTTPS://Pictures.Example/a/../é.png")).avatarUrl, undefined);
  const kept = await change("https://Pictures.Example/a/../é.png");
  t.is(kept.avatarUrl, "https://pictures.example/%C3%A9.png");
  for (const wrong of [
    ...['https://x.example/"onload="', "https://x.example/a b", "https://x.example/'", "http://x"],
    ...[
      "https://user@x.example/",
      "https://:p@x.example/",
      "https:x.example",
      "javascript:alert(1)",
      "https:///x",
    ],
  ]) {
    t.is((await change(wrong)).error, "avatarUrl: must be an https:// address", wrong);
  }
});

test.serial("the address of a picture is short also in normal form", async (t) => {
  const { visitor } = await member();
  const change = async (avatarUrl: string) =>
    (await visitor.call("PATCH", "/api/account/profile", { body: { avatarUrl } })).body;
  const words = Array.from({ length: 1980 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join("");
  const host = [63, 63, 63, 61].map((length) => "a".repeat(length)).join(".");
  const long = `https://${host}/`.padEnd(2000, "b");
  for (const kept of [`https://${host}:8443/`, long, "https://xn--bcher-kva.example/"]) {
    t.is((await change(kept)).avatarUrl, kept);
  }
  t.is(
    (await change("https://bücher.example/?ü#ü")).avatarUrl,
    "https://xn--bcher-kva.example/?%C3%BC#%C3%BC",
  );
  for (const [wrong, because] of [
    [`https://${words}/`, "must be an https:// address"],
    [`https://a${host}/`, "must be an https:// address"],
    [`https://${words.slice(0, 290)}/`, "must be an https:// address"],
    [`https://a.example/${words}`, "must have at most 2000 characters, with %-escapes"],
    [`${long.slice(0, 1999)}é`, "must have at most 2000 characters, with %-escapes"],
    [`${long}b`, "must have at most 2000 characters"],
  ]) {
    t.is((await change(wrong!)).error, `avatarUrl: ${because}`, wrong!.slice(0, 20));
  }
});

test.serial(
  "403 SIGN_UP_CLOSED: without an invitation, and with one for another address",
  async (t) => {
    await operate("set_sign_up", { policy: "invitation" });
    const signUp = (body: object) =>
      makeVisitor(service).call("POST", "/api/account/sign-up", { body });
    t.is((await signUp(anybody())).body.code, "SIGN_UP_CLOSED");
    const person = anybody();
    const path: string = await operate("invite_user", { email: person.email });
    const invitation = path.replace("/sign-up#", "");
    t.is((await signUp({ ...anybody(), invitation })).body.code, "INVALID_LINK");
    const [mail] = await takeMails(service.worker);
    t.is(mail!.kind, "invitation");
    const written = { ...person, email: person.email.toUpperCase() };
    const answer = await signUp({ ...written, invitation });
    t.deepEqual([answer.status, answer.body.emailConfirmed], [201, true]);
    const { rows } = await service.database.pool.query(
      "select email from identity.users where public_id = $1",
      [answer.body.userId],
    );
    t.deepEqual(rows, [{ email: person.email }], "it is proven as the invitation has it");
    t.is((await signUp({ ...person, invitation: mail!.token })).body.code, "INVALID_LINK");
    t.is((await signIn(makeVisitor(service), person.email, person.password)).status, 200);

    await operate("set_sign_up", { policy: "closed" });
    const late: string = await operate("invite_user", { email: "late@test.example" });
    const closed = await signUp({ ...anybody(), invitation: late.replace("/sign-up#", "") });
    t.is(closed.body.code, "SIGN_UP_CLOSED");
    const { body } = await makeVisitor(service).call("GET", "/api/account/sign-up");
    t.deepEqual(body, { policy: "closed", playMoneyCents: 0, minimumAge: null });
    await operate("set_sign_up", { policy: "open", play_money_cents: 100_000 });
    await takeMails(service.worker);
  },
);

test.serial(
  "a link of an operator signs in once, within 15 minutes, and the user gets a mail",
  async (t) => {
    const { userId } = await member();
    const path: string = await operate("sign_in_link", { user_id: userId });
    const visitor = makeVisitor(service);
    const follow = () =>
      visitor.call("POST", "/api/account/sign-in-link", {
        body: { token: path.replace("/sign-in#", "") },
      });
    t.deepEqual((await follow()).body, { userId });
    t.is((await visitor.call("GET", "/api/account")).body.id, userId);
    t.is((await follow()).body.code, "INVALID_LINK");
    const [mail] = await takeMails(service.worker);
    t.regex(mail!.text, /support/);
  },
);

test.serial("a password is hashed anew at sign-in when its settings are old", async (t) => {
  const { person, userId } = await member();
  const { pool } = service.database;
  const hashOf = async () =>
    (
      await pool.query(
        `select p.password_hash as hash from identity.passwords as p
         join identity.users as u on u.id = p.user_id where u.public_id = $1`,
        [userId],
      )
    ).rows[0].hash as string;
  const { hashPassword } = await import("../../src/accounts/passwords.ts");
  const old = await hashPassword(person.password, "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ");
  await pool.query(
    `update identity.passwords as p set password_hash = $2
     from identity.users as u where u.id = p.user_id and u.public_id = $1`,
    [userId, old],
  );
  t.is((await signIn(makeVisitor(service), person.email, "wrong password")).status, 401);
  t.is(await hashOf(), old);
  t.is((await signIn(makeVisitor(service), person.email, person.password)).status, 200);
  t.regex(await hashOf(), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.is((await signIn(makeVisitor(service), person.email, person.password)).status, 200);
});

test.serial("nothing of a password, a hash, a cookie or a token is in the log", async (t) => {
  const { person, visitor } = await member();
  await signIn(visitor, person.email, person.password);
  const log = service.log.join("\n");
  t.true(log.includes("/api/account/sign-in"));
  for (const secret of [person.password, "$argon2id", "js_", "jt_", "jl_", person.email]) {
    t.false(log.includes(secret), secret);
  }
});
