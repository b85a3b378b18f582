import { randomBytes } from "node:crypto";
import test from "ava";
import type { ExecutionContext } from "ava";
import { operatorCredentialRoutes } from "../../src/api/operator_credentials.ts";
import { formatSecret } from "../../src/secrets.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { attestationOf, makePasskey } from "../helpers/http/authenticator.ts";
import type { Ceremony } from "../helpers/http/authenticator.ts";
import { staffAt } from "../helpers/http/staff_desk.ts";
import type { Desk } from "../helpers/http/staff_desk.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Answer } from "../helpers/http/test_service.ts";
import { makeMember } from "../helpers/http/visitor.ts";
import { checkAnswers } from "./openapi_answers.ts";

/** What members of staff sign in with: an invitation over HTTP, and further passkeys. */

const service = testService(test, { playMoneyCents: 0 });
const { operate } = service;
const { faultsOf, met } = checkAnswers();
const { siteOf, makeDesk, invite, mailedToken, welcome, accept, makeStaff, signIn } = staffAt(
  service,
  () => service.url,
);

const sessionOf = (browser: Desk) => browser.call("GET", "/api/operator/session");
const madeUp = () => randomBytes(32).toString("base64url");

const fit = (t: ExecutionContext, method: string, path: string, answer: Answer) => {
  t.deepEqual(faultsOf(method, path, answer), [], `${method} ${path}`);
};

const codeOf = ({ status, body }: Answer) => [status, body.code];

const unauthorized = { error: "Unauthorized" };

test.serial(
  "a person is invited by mail, sets password and passkey, and is signed in",
  async (t) => {
    const { staffId, email, name, token } = await invite(["cash", "audit"]);
    const browser = makeDesk();
    const { shown, passkey, credential } = await welcome(browser, token);
    fit(t, "POST", "/api/operator/invitation", shown);
    t.like(shown.body, { email, name });
    const { options } = shown.body;
    t.is(options.rp.id, "127.0.0.1");
    t.deepEqual([options.user.name, options.user.displayName], [email, name]);
    t.is(Buffer.from(options.user.id, "base64url").toString("hex"), staffId.replaceAll("-", ""));

    const password = "a fine long password";
    const accepted = await accept(browser, { token, password, credential });
    fit(t, "POST", "/api/operator/invitation/accept", accepted);
    t.deepEqual(
      [accepted.status, accepted.body],
      [201, { staffId, name, roles: ["audit", "cash"] }],
    );
    t.regex(
      accepted.headers.getSetCookie().join("\n"),
      /^pgmarkets_operator=jf_\w{49}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    t.like((await sessionOf(browser)).body, { staffId, email });
    t.is((await signIn({ staffId, email, name, password, passkey, browser })).status, 200);
    const again = await accept(browser, { token, password, credential });
    t.deepEqual(codeOf(again), [400, "INVALID_LINK"]);
  },
);

test.serial("INVALID_LINK: only the link of an invitation of staff is one", async (t) => {
  const { visitor, userId } = await makeMember(service);
  const path: string = await operate("sign_in_link", { user_id: userId });
  const ofUser = path.split("#")[1]!;
  const browser = makeDesk();
  const { credential, shown } = await welcome(browser, (await invite(["cash"])).token);
  t.is(shown.status, 200);
  for (const token of [ofUser, formatSecret(randomBytes(32), "jl_"), "nonsense", ""]) {
    const look = await browser.call("POST", "/api/operator/invitation", { body: { token } });
    t.deepEqual(codeOf(look), [400, "INVALID_LINK"], token);
    const answer = await accept(browser, { token, password: "a fine long password", credential });
    t.deepEqual(codeOf(answer), [400, "INVALID_LINK"], token);
  }
  const { token } = await invite(["cash"]);
  const asUser = await visitor.call("POST", "/api/account/sign-in-link", { body: { token } });
  t.deepEqual(codeOf(asUser), [400, "INVALID_LINK"]);

  const gone = await invite(["cash"]);
  await operate("remove_staff", { staff_id: gone.staffId });
  const look = await browser.call("POST", "/api/operator/invitation", {
    body: { token: gone.token },
  });
  t.deepEqual(codeOf(look), [400, "INVALID_LINK"]);
});

test.serial("INVALID_PASSKEY, INVALID_REQUEST: what is refused leaves the link good", async (t) => {
  const { email, name, token } = await invite(["cash"]);
  const browser = makeDesk();
  const { passkey, credential, shown } = await welcome(browser, token);
  const password = "a fine long password";
  const wrong: Partial<Ceremony>[] = [
    { origin: "https://evil.example" },
    { rpId: "evil.example" },
    { isUserVerified: false },
    { challenge: madeUp() },
  ];
  for (const change of wrong) {
    const { challenge } = shown.body.options;
    const bad = attestationOf(passkey, { ...siteOf(), challenge, ...change });
    const answer = await accept(browser, { token, password, credential: bad });
    t.deepEqual(codeOf(answer), [403, "INVALID_PASSKEY"], Object.keys(change).join());
  }
  for (const weak of ["short", "1234567890", `${email}1`, `${name.toLowerCase()}!!!!`]) {
    const answer = await accept(browser, { token, password: weak, credential });
    t.deepEqual(codeOf(answer), [400, "INVALID_REQUEST"], weak);
    t.is(answer.body.issues[0].path, "password");
  }
  t.is((await accept(browser, { token, password, credential })).status, 201);
  const other = await invite(["cash"]);
  const twice = await accept(browser, { token: other.token, password, credential });
  t.deepEqual(codeOf(twice), [403, "INVALID_PASSKEY"], "the challenge is used up");
});

test.serial("429: attempts with a link count by the link", async (t) => {
  const limit = (max_requests: number) =>
    operate("set_rate_limit", { bucket: "sign-in-account", max_requests, window_seconds: 900 });
  const [{ token }, other] = [await invite(["cash"]), await invite(["cash"])];
  const browser = makeDesk();
  const password = "a fine long password";
  await limit(2);
  const challenge = madeUp();
  const { credential } = await welcome(browser, token, { challenge });
  for (const status of [403, 403, 429]) {
    t.is((await accept(browser, { token, password, credential })).status, status);
  }
  const sound = (await welcome(browser, other.token)).credential;
  const accepted = await accept(browser, { token: other.token, password, credential: sound });
  t.is(accepted.status, 201);
  await limit(1_000_000);
});

test.serial("another invitation ends the password, the passkeys and the session", async (t) => {
  const member = await makeStaff(["cash"]);
  await operate("invite_staff", { staff_id: member.staffId });
  t.is((await sessionOf(member.browser)).status, 401);
  t.is((await signIn(member)).status, 401);
  const token = await mailedToken(member.email);
  const { passkey, credential } = await welcome(member.browser, token);
  const { password } = member;
  t.is((await accept(member.browser, { token, password, credential })).status, 201);
  t.is((await signIn(member)).status, 401, "by the passkey from before");
  t.is((await signIn(member, { passkey })).status, 200);
});

/** Begins to add a passkey in the session of a browser. */
async function begin(browser: Desk) {
  const options = await browser.call("POST", "/api/operator/passkeys/options");
  if (options.status !== 200) return { options };
  const passkey = makePasskey(options.body.user.id);
  const { challenge } = options.body;
  return { options, passkey, credential: attestationOf(passkey, { ...siteOf(), challenge }) };
}

const add = (browser: Desk, credential: object | undefined, name = "Another") =>
  browser.call("POST", "/api/operator/passkeys", { body: { name, credential } });

test.serial("another passkey is added, and signs in", async (t) => {
  const member = await makeStaff(["cash"]);
  const { browser } = member;
  const { options, passkey, credential } = await begin(browser);
  fit(t, "POST", "/api/operator/passkeys/options", options);
  t.deepEqual(
    options.body.excludeCredentials.map(({ id }: { id: string }) => id),
    [member.passkey.credentialId.toString("base64url")],
  );
  t.is(options.body.user.id, member.passkey.userHandle);
  const added = await add(browser, credential);
  fit(t, "POST", "/api/operator/passkeys", added);
  t.deepEqual([added.status, added.body], [201, { name: "Another" }]);
  t.is((await signIn(member, { passkey: passkey! })).status, 200);
  t.is((await signIn(member)).status, 200);

  t.deepEqual(codeOf(await add(browser, credential)), [403, "INVALID_PASSKEY"], "once");
  const { challenge } = (await begin(browser)).options.body;
  const known = attestationOf(passkey!, { ...siteOf(), challenge });
  t.deepEqual(codeOf(await add(browser, known)), [409, "ALREADY_EXISTS"]);
});

test.serial("SIGN_IN_AGAIN: passkeys are added within ten minutes of the sign-in", async (t) => {
  const { browser } = await makeStaff(["cash"]);
  const clock = testClock(service.database.pool);
  await clock.advance(9 * 60_000);
  const { credential } = await begin(browser);
  await clock.advance(60_000);
  t.deepEqual(codeOf((await begin(browser)).options), [403, "SIGN_IN_AGAIN"]);
  t.deepEqual(codeOf(await add(browser, credential)), [403, "SIGN_IN_AGAIN"]);
  await clock.release();
  for (const [path, body] of [
    ["/api/operator/passkeys/options", undefined],
    ["/api/operator/passkeys", { name: "Mine", credential }],
  ] as const) {
    const answer = await makeDesk().call("POST", path, { body });
    t.deepEqual([answer.status, answer.body], [401, unauthorized], path);
  }
});

test.serial("each of these routes was asked for", (t) => {
  const successes = operatorCredentialRoutes.flatMap(({ operationId, responses }) =>
    Object.keys(responses).map((status) => `${operationId} ${status}`),
  );
  t.deepEqual(
    successes.filter((name) => !met.has(name)),
    [],
  );
});
