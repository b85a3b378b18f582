import { randomBytes } from "node:crypto";
import test from "ava";
import { testClock } from "../helpers/database/test_clock.ts";
import {
  assertionOf,
  attestationOf,
  certifiedAttestationOf,
  makePasskey,
} from "../helpers/http/authenticator.ts";
import type { Ceremony, Passkey } from "../helpers/http/authenticator.ts";
import { callService, testService } from "../helpers/http/test_service.ts";
import { makeMember, makeVisitor, takeMails } from "../helpers/http/visitor.ts";
import type { Visitor } from "../helpers/http/visitor.ts";
import { until } from "../helpers/until.ts";

/** Passkeys over HTTP, with a device made of software: added, signed in with, removed. */

const service = testService(test, { playMoneyCents: 0 });
const { operate } = service;

const MINUTE = 60_000;

const member = (browser?: string) => makeMember(service, browser);
const anyone = () => makeVisitor(service);
const siteOf = () => ({ origin: service.url, rpId: new URL(service.url).hostname });

/** A passkey that a browser makes for the visitor, and what it signs. */
async function begin(visitor: Visitor, change: Partial<Ceremony> = {}) {
  const { status, body } = await visitor.call("POST", "/api/account/passkeys/options");
  if (status !== 200) throw new Error(JSON.stringify(body));
  const passkey = makePasskey(body.user.id);
  const ceremony = { ...siteOf(), challenge: body.challenge as string, ...change };
  return { options: body, passkey, ceremony };
}

const finish = (visitor: Visitor, credential: object, name = "My phone") =>
  visitor.call("POST", "/api/account/passkeys", { body: { name, credential } });

/** A member with a passkey. */
async function memberWithPasskey() {
  const one = await member();
  const { passkey, ceremony } = await begin(one.visitor);
  const { status, body } = await finish(one.visitor, attestationOf(passkey, ceremony));
  if (status !== 201) throw new Error(JSON.stringify(body));
  await takeMails(service.worker);
  return { ...one, passkey, passkeyId: body.id as string };
}

const challengeFor = async (visitor: Visitor): Promise<string> =>
  (await visitor.call("POST", "/api/account/sign-in-passkey/options")).body.challenge;

async function signIn(passkey: Passkey, change: Partial<Ceremony> = {}, visitor = anyone()) {
  const challenge = await challengeFor(visitor);
  return await send(assertionOf(passkey, { ...siteOf(), challenge, ...change }), visitor);
}

const send = (credential: object, visitor = anyone()) =>
  visitor.call("POST", "/api/account/sign-in-passkey", { body: { credential } });

const codeOf = ({ status, body }: { status: number; body: any }) => [status, body.code];
const INVALID = [403, "INVALID_PASSKEY"];

const listed = async (visitor: Visitor) =>
  (await visitor.call("GET", "/api/account/passkeys")).body.data;

test.serial("a passkey is added, signs in without an address, and is removed", async (t) => {
  const { visitor, person, userId } = await member();
  await takeMails(service.worker);
  const { options, passkey, ceremony } = await begin(visitor);
  t.is(options.rp.id, "127.0.0.1");
  t.is(options.user.name, person.email);
  t.deepEqual(options.authenticatorSelection, {
    residentKey: "required",
    requireResidentKey: true,
    userVerification: "required",
  });
  t.deepEqual(options.excludeCredentials, []);
  t.is(Buffer.from(options.challenge, "base64url").length, 32);

  const added = await finish(visitor, attestationOf(passkey, ceremony), "My phone");
  t.deepEqual([added.status, added.body.name], [201, "My phone"]);
  const [one] = await listed(visitor);
  t.deepEqual([one.id, one.name, one.lastUsedAt], [added.body.id, "My phone", null]);
  const mails = await takeMails(service.worker);
  t.deepEqual(
    mails.map(({ kind, to }) => [kind, to]),
    [["passkey_added", person.email]],
  );
  t.regex(mails[0]!.text, /My phone/);

  const again = await begin(visitor);
  t.deepEqual(again.options.excludeCredentials, [
    {
      id: passkey.credentialId.toString("base64url"),
      type: "public-key",
      transports: ["hybrid", "internal"],
    },
  ]);

  const elsewhere = makeVisitor(service, "Chromium");
  const challenge = await challengeFor(elsewhere);
  const asked = await elsewhere.call("POST", "/api/account/sign-in-passkey/options");
  t.deepEqual(Object.keys(asked.body).toSorted(), [
    ...["challenge", "rpId", "timeout", "userVerification"],
  ]);
  t.not(asked.body.challenge, challenge);
  const signedIn = await send(assertionOf(passkey, { ...siteOf(), challenge }), elsewhere);
  t.deepEqual([signedIn.status, signedIn.body], [200, { userId }]);
  t.regex(signedIn.headers.getSetCookie()[0]!, /^pgmarkets_session=js_\w{49}; Path=\/; Max-Age=/);
  t.is((await elsewhere.call("GET", "/api/account")).body.id, userId);
  t.not((await listed(elsewhere))[0].lastUsedAt, null);
  t.deepEqual(
    (await takeMails(service.worker)).map(({ kind }) => kind),
    ["new_sign_in"],
  );

  const removed = await elsewhere.call("DELETE", `/api/account/passkeys/${one.id}`);
  t.deepEqual([removed.status, removed.body], [200, { id: one.id }]);
  t.deepEqual(await listed(elsewhere), []);
  t.deepEqual(
    (await takeMails(service.worker)).map(({ kind, to }) => [kind, to]),
    [["passkey_removed", person.email]],
  );
  t.deepEqual(codeOf(await signIn(passkey)), INVALID);
  t.is((await elsewhere.call("DELETE", `/api/account/passkeys/${one.id}`)).status, 404);
});

test.serial("a sign-in makes another cookie, and ends the session of the browser", async (t) => {
  const { visitor, passkey } = await memberWithPasskey();
  const old = visitor.cookie!;
  t.is((await signIn(passkey, {}, visitor)).status, 200);
  t.not(visitor.cookie, old);
  const planted = anyone();
  planted.cookie = old;
  t.is(await planted.token(), undefined);
  t.is((await visitor.call("GET", "/api/account/sessions")).body.data.length, 1);
  t.deepEqual(await takeMails(service.worker), [], "the browser was known");
});

test.serial("403 INVALID_PASSKEY: one answer for whatever is wrong with a signature", async (t) => {
  const { passkey } = await memberWithPasskey();
  const wrong: [string, Partial<Ceremony>][] = [
    ["another site", { origin: "https://evil.example" }],
    ["another port of this site", { origin: "http://127.0.0.1:1" }],
    ["a key for another site", { rpId: "evil.example" }],
    ["no user verification", { isUserVerified: false }],
    ["no user present", { isUserPresent: false }],
    ["a new key in place of a signature", { type: "webauthn.create" }],
    ["a challenge that was never made", { challenge: randomBytes(32).toString("base64url") }],
    ["no challenge", { challenge: "" }],
    ["in a frame of another site", { crossOrigin: true, topOrigin: "https://evil.example" }],
    ["in a frame of a site that is not named", { crossOrigin: true }],
  ];
  const answers = [];
  for (const [name, change] of wrong) {
    const answer = await signIn(passkey, change);
    t.deepEqual(codeOf(answer), INVALID, name);
    t.deepEqual(answer.headers.getSetCookie(), [], name);
    answers.push(answer.body);
  }
  const challenge = await challengeFor(anyone());
  const sound = assertionOf(passkey, { ...siteOf(), challenge });
  const { response } = sound;
  const stranger = makePasskey(passkey.userHandle);
  const altered: [string, object][] = [
    ["an unknown passkey", assertionOf(stranger, { ...siteOf(), challenge })],
    [
      "the signature of another key",
      {
        ...sound,
        response: assertionOf({ ...stranger, count: 0 }, { ...siteOf(), challenge }).response,
      },
    ],
    ["no signature", { ...sound, response: { ...response, signature: "AAAA" } }],
    ["no data", { ...sound, response: { ...response, authenticatorData: "AAAA" } }],
    ["no client data", { ...sound, response: { ...response, clientDataJSON: "AAAA" } }],
    ["no user", { ...sound, response: { ...response, userHandle: "AAAA" } }],
    ["two ids", { ...sound, rawId: stranger.credentialId.toString("base64url") }],
  ];
  for (const [name, credential] of altered) {
    const answer = await send(credential);
    t.deepEqual(codeOf(answer), INVALID, name);
    answers.push(answer.body);
  }
  t.is(new Set(answers.map((body) => JSON.stringify(body))).size, 1);
  t.is((await send(sound)).status, 200, "the challenge was still good");
});

test.serial("a signature is for the user of its passkey alone", async (t) => {
  const [ann, bob] = [await memberWithPasskey(), await memberWithPasskey()];
  ann.passkey.userHandle = bob.passkey.userHandle;
  t.deepEqual(codeOf(await signIn(ann.passkey)), INVALID);
  const swapped = { ...ann.passkey, credentialId: bob.passkey.credentialId };
  t.deepEqual(codeOf(await signIn(swapped)), INVALID);
  t.is((await signIn(bob.passkey)).body.userId, bob.userId);
});

test.serial("a challenge is good once", async (t) => {
  const { passkey } = await memberWithPasskey();
  const challenge = await challengeFor(anyone());
  const signature = assertionOf(passkey, { ...siteOf(), challenge });
  t.is((await send(signature)).status, 200);
  t.deepEqual(codeOf(await send(signature)), INVALID);
  const other = assertionOf(passkey, { ...siteOf(), challenge });
  t.deepEqual(codeOf(await send(other)), INVALID, "for another signature too");
});

test.serial("of sign-ins at the same moment with one challenge exactly one succeeds", async (t) => {
  const { passkey } = await memberWithPasskey();
  for (let round = 0; round < 5; round++) {
    const challenge = await challengeFor(anyone());
    const signatures = Array.from({ length: 6 }, () =>
      // The device does not count, so only the challenge decides.
      assertionOf(passkey, { ...siteOf(), challenge, count: 0 }),
    );
    const answers = await Promise.all(signatures.map((signature) => send(signature)));
    t.deepEqual(
      answers.map(({ status }) => status).toSorted(),
      [200, 403, 403, 403, 403, 403],
      `round ${round}`,
    );
  }
});

test.serial("challenges end after five minutes", async (t) => {
  const clock = testClock(service.database.pool);
  const { visitor, passkey } = await memberWithPasskey();
  await clock.freeze();
  const early = await challengeFor(anyone());
  const late = await challengeFor(anyone());
  const adding = await begin(visitor);
  await clock.advance(5 * MINUTE - 1);
  const inTime = assertionOf(passkey, { ...siteOf(), challenge: early });
  t.is((await send(inTime)).status, 200);
  await clock.advance(1);
  const tooLate = assertionOf(passkey, { ...siteOf(), challenge: late });
  t.deepEqual(codeOf(await send(tooLate)), INVALID);
  const { passkey: another, ceremony } = adding;
  t.deepEqual(codeOf(await finish(visitor, attestationOf(another, ceremony))), INVALID);
  await clock.release();
});

test.serial("the count of signatures must rise, unless the device does not count", async (t) => {
  const { passkey } = await memberWithPasskey();
  t.is((await signIn(passkey, { count: 7 })).status, 200);
  t.deepEqual(codeOf(await signIn(passkey, { count: 7 })), INVALID, "the same again");
  t.deepEqual(codeOf(await signIn(passkey, { count: 6 })), INVALID, "a copy of the key");
  t.deepEqual(codeOf(await signIn(passkey, { count: 0 })), INVALID, "it counted before");
  t.is((await signIn(passkey, { count: 8 })).status, 200);
  t.is((await signIn(passkey, { count: 2 ** 32 - 1 })).status, 200);

  const { passkey: uncounted } = await memberWithPasskey();
  for (let round = 0; round < 2; round++) {
    t.is((await signIn(uncounted, { count: 0 })).status, 200);
  }
});

test.serial("403 INVALID_PASSKEY: a new key that is not made here, or not as asked", async (t) => {
  const { visitor } = await member();
  const wrong: [string, Partial<Ceremony>][] = [
    ["on another site", { origin: "https://evil.example" }],
    ["for another site", { rpId: "evil.example" }],
    ["without user verification", { isUserVerified: false }],
    ["without a user", { isUserPresent: false }],
    ["a signature", { type: "webauthn.get" }],
    ["with another challenge", { challenge: randomBytes(32).toString("base64url") }],
    ["in a frame of another site", { crossOrigin: true, topOrigin: "https://evil.example" }],
    ["in a frame of a site that is not named", { crossOrigin: true }],
    ["with a challenge to sign in", { challenge: await challengeFor(anyone()) }],
  ];
  for (const [name, change] of wrong) {
    const { passkey, ceremony } = await begin(visitor, change);
    t.deepEqual(codeOf(await finish(visitor, attestationOf(passkey, ceremony))), INVALID, name);
  }
  t.deepEqual(await listed(visitor), []);
});

test.serial("a challenge to add is of its session, and good once", async (t) => {
  const { visitor, person } = await member();
  const { visitor: stranger } = await member();
  const sameUser = anyone();
  const { email, password } = person;
  await sameUser.call("POST", "/api/account/sign-in", { body: { email, password } });
  const { passkey, ceremony } = await begin(visitor);
  const made = attestationOf(passkey, ceremony);
  t.deepEqual(codeOf(await finish(stranger, made)), INVALID);
  t.deepEqual(codeOf(await finish(sameUser, made)), INVALID);
  const signed = assertionOf(passkey, ceremony);
  t.deepEqual(codeOf(await send(signed)), INVALID, "nor does it sign in");
  t.is((await finish(visitor, made)).status, 201);
  t.deepEqual(codeOf(await finish(visitor, made)), INVALID);
  const next = await begin(visitor);
  const known = attestationOf(passkey, next.ceremony);
  t.deepEqual(codeOf(await finish(visitor, known)), [409, "ALREADY_EXISTS"]);

  const [older, newer] = [await begin(visitor), await begin(visitor)];
  const overtaken = attestationOf(older.passkey, older.ceremony);
  t.deepEqual(codeOf(await finish(visitor, overtaken)), INVALID, "a session has one at a time");
  t.is((await finish(visitor, attestationOf(newer.passkey, newer.ceremony))).status, 201);
  await takeMails(service.worker);
});

test.serial("403 INVALID_PASSKEY: certificates of devices are not read", async (t) => {
  const { visitor } = await member();
  const certified = await begin(visitor);
  const made = certifiedAttestationOf(certified.passkey, certified.ceremony);
  t.deepEqual(codeOf(await finish(visitor, made)), INVALID);
  const selfSigned = await begin(visitor);
  const statement = new Map([["sig", randomBytes(70)]]);
  for (const format of ["none", "packed", "unknown"]) {
    const { passkey, ceremony } = selfSigned;
    const wrong = attestationOf(passkey, ceremony, { format, statement });
    t.deepEqual(codeOf(await finish(visitor, wrong)), INVALID, format);
  }
});

test.serial("403 INVALID_PASSKEY: bytes that are no CBOR, or nest without end", async (t) => {
  const { visitor } = await member();
  const { passkey, ceremony } = await begin(visitor);
  const made = attestationOf(passkey, ceremony);
  for (const bytes of [Buffer.alloc(6000, 0x81), Buffer.from([0xa0]), randomBytes(100)]) {
    const attestationObject = bytes.toString("base64url");
    const wrong = { ...made, response: { ...made.response, attestationObject } };
    t.deepEqual(codeOf(await finish(visitor, wrong)), INVALID);
  }
  t.is((await finish(visitor, made)).status, 201, "the challenge was still good");
  await takeMails(service.worker);
});

test.serial("403 SIGN_IN_AGAIN: ten minutes after the sign-in", async (t) => {
  const clock = testClock(service.database.pool);
  await clock.freeze();
  const { visitor, passkey, passkeyId } = await memberWithPasskey();
  await clock.advance(10 * MINUTE - 1);
  const { passkey: another, ceremony } = await begin(visitor);
  await clock.advance(1);
  const options = await visitor.call("POST", "/api/account/passkeys/options");
  t.deepEqual(codeOf(options), [403, "SIGN_IN_AGAIN"]);
  const late = await finish(visitor, attestationOf(another, ceremony));
  t.deepEqual(codeOf(late), [403, "SIGN_IN_AGAIN"], "though it began in time");
  const removal = await visitor.call("DELETE", `/api/account/passkeys/${passkeyId}`);
  t.deepEqual(codeOf(removal), [403, "SIGN_IN_AGAIN"]);
  t.is((await listed(visitor)).length, 1);
  t.is((await signIn(passkey, {}, visitor)).status, 200);
  t.is((await visitor.call("DELETE", `/api/account/passkeys/${passkeyId}`)).status, 200);
  await clock.release();
  await takeMails(service.worker);
});

test.serial("403 EMAIL_UNCONFIRMED: an account without a confirmed address", async (t) => {
  const visitor = anyone();
  const body = {
    ...{ email: "unconfirmed@test.example", displayName: "U", handle: "unconfirmed" },
    password: "correct horse",
  };
  await visitor.call("POST", "/api/account/sign-up", { body });
  const answer = await visitor.call("POST", "/api/account/passkeys/options");
  t.deepEqual(codeOf(answer), [403, "EMAIL_UNCONFIRMED"]);
  await takeMails(service.worker);
});

test.serial("409 INVALID_STATE: the last way in stays", async (t) => {
  const { userId } = await service.makeTrader();
  const visitor = anyone();
  const path: string = await operate("sign_in_link", { user_id: userId });
  const token = path.replace("/sign-in#", "");
  await visitor.call("POST", "/api/account/sign-in-link", { body: { token } });
  t.false((await visitor.call("GET", "/api/account")).body.hasPassword);
  const ids: string[] = [];
  for (const name of ["one", "two"]) {
    const { passkey, ceremony } = await begin(visitor);
    ids.push((await finish(visitor, attestationOf(passkey, ceremony), name)).body.id);
  }
  const remove = (id: string) => visitor.call("DELETE", `/api/account/passkeys/${id}`);
  const answers = await Promise.all(ids.map(remove));
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
  const refused = answers.find(({ status }) => status === 409)!;
  t.is(refused.body.code, "INVALID_STATE");
  t.regex(refused.body.error, /only way into the account/);
  t.is((await listed(visitor)).length, 1);
  await takeMails(service.worker);
});

test.serial("404: a passkey of another user is neither listed nor removed", async (t) => {
  const ann = await memberWithPasskey();
  const { visitor } = await member();
  t.deepEqual(await listed(visitor), []);
  const answer = await visitor.call("DELETE", `/api/account/passkeys/${ann.passkeyId}`);
  t.is(answer.status, 404);
  t.is((await signIn(ann.passkey)).status, 200);
  await takeMails(service.worker);
});

/** A reset by the link of a mail. */
async function mailedReset({ email }: { email: string }) {
  await anyone().call("POST", "/api/account/password-reset", { body: { email } });
  const mail = (await takeMails(service.worker)).find(({ kind }) => kind === "password_reset");
  const body = { token: mail!.token!, password: "after the reset" };
  const reset = (more = {}) =>
    anyone().call("POST", "/api/account/password-reset/confirm", { body: { ...body, ...more } });
  return { reset, mail: mail! };
}

async function makeKey(visitor: Visitor): Promise<string> {
  const body = { name: "bot" };
  return (await visitor.call("POST", "/api/account/keys", { body })).body.key;
}

const statusWith = async (key: string) => (await service.call("GET", "/api/v1/me", { key })).status;

test.serial(
  "a password reset ends sessions, passkeys and keys, and its mails say so",
  async (t) => {
    const { person, passkey, visitor } = await memberWithPasskey();
    const key = await makeKey(visitor);
    t.is(await statusWith(key), 200);
    const { reset, mail } = await mailedReset(person);
    t.regex(mail.text, /all passkeys and API keys end/);
    const done = await reset();
    t.is(done.status, 200);
    t.deepEqual(done.body.waysIn, { sessions: 1, passkeys: 0, apiKeys: 0 });
    const notice = (await takeMails(service.worker)).find(
      ({ kind }) => kind === "password_changed",
    );
    t.regex(notice!.text, /All sessions, passkeys and API keys have ended/);
    t.deepEqual(codeOf(await signIn(passkey)), [403, "INVALID_PASSKEY"]);
    t.is(await visitor.token(), undefined);
    await until("the key has ended", async () => (await statusWith(key)) === 401);
    await takeMails(service.worker);
  },
);

test.serial("a reset with a passkey of the account keeps what the user has", async (t) => {
  const { person, passkey, visitor } = await memberWithPasskey();
  const other = await memberWithPasskey();
  const key = await makeKey(visitor);
  const sign = async (by: typeof passkey, change = {}) => {
    const challenge = await challengeFor(anyone());
    return { credential: { ...assertionOf(by, { ...siteOf(), challenge }), ...change } };
  };
  const { reset } = await mailedReset(person);
  const used = await sign(passkey);
  t.is((await signIn(passkey)).status, 200, "its count is higher now");
  for (const given of [
    await sign(other.passkey),
    await sign(makePasskey(passkey.userHandle)),
    used,
  ]) {
    t.deepEqual(codeOf(await reset(given)), [403, "INVALID_PASSKEY"]);
  }
  t.is((await signIn(other.passkey)).status, 200);
  const fresh = await sign(passkey);
  t.is((await reset({ ...fresh, token: "nonsense" })).body.code, "INVALID_LINK");
  const done = await reset(fresh);
  t.deepEqual(done.body.waysIn, { sessions: 3, passkeys: 1, apiKeys: 1 });
  t.truthy(await visitor.token());
  t.is(await statusWith(key), 200);
  const notice = (await takeMails(service.worker)).find(({ kind }) => kind === "password_changed");
  t.regex(notice!.text, /A passkey was used to keep/);
  t.is((await signIn(passkey)).status, 200);
  t.is((await reset(fresh)).body.code, "INVALID_LINK");
  await takeMails(service.worker);
});

test.serial("a self-excluded user signs in, as by a password", async (t) => {
  const { visitor, passkey } = await memberWithPasskey();
  await visitor.call("POST", "/api/account/self-exclusion", { body: { until: null } });
  t.is((await signIn(passkey)).status, 200);
  await takeMails(service.worker);
});

test.serial("400 INVALID_REQUEST: what is no credential", async (t) => {
  const { visitor, passkey } = await memberWithPasskey();
  const challenge = await challengeFor(anyone());
  const sound = assertionOf(passkey, { ...siteOf(), challenge });
  for (const credential of [
    null,
    {},
    { ...sound, id: "a+b" },
    { ...sound, id: "" },
    { ...sound, id: "a".repeat(1365) },
    { ...sound, type: "password" },
    { ...sound, response: { ...sound.response, signature: 1 } },
    { ...sound, response: { ...sound.response, userHandle: undefined } },
  ]) {
    t.is((await send(credential as object)).status, 400, JSON.stringify(credential));
  }
  const { passkey: made, ceremony } = await begin(visitor);
  const answer = await finish(visitor, attestationOf(made, ceremony), " ");
  t.deepEqual(codeOf(answer), [400, "INVALID_REQUEST"]);
});

test.serial("behind a proxy passkeys are for PUBLIC_URL, wherever requests come", async (t) => {
  const { visitor } = await memberWithPasskey();
  const secureUrl = await service.serveBeside(t, { publicUrl: "https://Markets.example/" });
  const origin = "https://markets.example";
  const post = (path: string, body?: object, key?: string) =>
    callService(secureUrl, "POST", `/api/account/${path}`, {
      ...(body && { body }),
      ...(key !== undefined && { key }),
      headers: { origin },
    });
  const token = await visitor.token();
  const { body: options } = await post("passkeys/options", undefined, token);
  t.is(options.rp.id, "markets.example");
  const made = makePasskey(options.user.id);
  const rpId = "markets.example";
  const ceremony = { origin, rpId, challenge: options.challenge };
  const credential = attestationOf(made, ceremony);
  t.is((await post("passkeys", { name: "far", credential }, token)).status, 201);
  const challenge = async () => (await post("sign-in-passkey/options")).body.challenge;
  const sign = async (by: Passkey, site: object) =>
    await post("sign-in-passkey", {
      credential: assertionOf(by, { origin, rpId, challenge: await challenge(), ...site }),
    });
  const signedIn = await sign(made, {});
  t.is(signedIn.status, 200);
  t.regex(signedIn.headers.getSetCookie()[0]!, /^__Host-pgmarkets_session=jh_/);
  t.deepEqual(codeOf(await sign(made, siteOf())), INVALID);
});

test.serial("nothing of a passkey is in the log", async (t) => {
  const { passkey } = await memberWithPasskey();
  await signIn(passkey);
  const log = service.log.join("\n");
  t.true(log.includes("/api/account/sign-in-passkey"));
  for (const secret of [passkey.credentialId.toString("base64url"), "clientDataJSON", "js_"]) {
    t.false(log.includes(secret), secret);
  }
});
