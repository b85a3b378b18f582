import { randomBytes } from "node:crypto";
import test from "ava";
import type { ExecutionContext } from "ava";
import { operatorAccessRoutes } from "../../src/api/operator_access.ts";
import { routes } from "../../src/api/routes.ts";
import type { RunningServer } from "../../src/server/start_server.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { assertionOf, makePasskey } from "../helpers/http/authenticator.ts";
import { listenForStaff, staffAt } from "../helpers/http/staff_desk.ts";
import type { Change, Desk, Member } from "../helpers/http/staff_desk.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Answer, CallOptions } from "../helpers/http/test_service.ts";
import { makeMember } from "../helpers/http/visitor.ts";
import { checkAnswers } from "./openapi_answers.ts";

/** How members of staff sign in over HTTP, and what their session opens. */

const service = testService(test, { playMoneyCents: 0 });
const { operate } = service;
const { faultsOf, met } = checkAnswers();

const { siteOf, makeDesk, makeStaff, newChallenge, signIn } = staffAt(service, () => desk.url);

let desk: RunningServer;

test.serial.before("listen for staff", async () => {
  desk = await listenForStaff(service);
});
test.after.always("stop listening", async () => {
  await desk.close();
});

/** A member of staff, and a browser in which they are signed in. */
async function signedIn(roles: string[]): Promise<{ member: Member; browser: Desk }> {
  const [member, browser] = [await makeStaff(roles), makeDesk()];
  const { status, body } = await signIn(member, {}, browser);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { member, browser };
}

const sessionOf = (browser: Desk) => browser.call("GET", "/api/operator/session");

const ask = (browser: Desk, query: string, options: CallOptions = {}) =>
  browser.call("POST", "/admin/graphql", { body: { query }, ...options });

const createCategory = (slug: string) =>
  `mutation { createCategory(input: { slug: "${slug}", name: "New" }) { clientMutationId } }`;

const fit = (t: ExecutionContext, method: string, path: string, answer: Answer) => {
  t.deepEqual(faultsOf(method, path, answer), [], `${method} ${path}`);
};

const unauthorized = { error: "Unauthorized" };
const wrongCredentials = { error: "Wrong e-mail or password" };

test.serial("a member signs in, sees the session, and signs out", async (t) => {
  const member = await makeStaff(["cash", "markets"]);
  const { staffId, name, email } = member;
  const browser = makeDesk();
  const before = await sessionOf(browser);
  fit(t, "GET", "/api/operator/session", before);
  t.deepEqual([before.status, before.body], [401, unauthorized]);

  const answer = await signIn(member, { email: email.toUpperCase() }, browser);
  fit(t, "POST", "/api/operator/sign-in", answer);
  t.deepEqual(answer.body, { staffId, name, roles: ["cash", "markets"] });
  t.regex(
    answer.headers.getSetCookie().join("\n"),
    /^pgmarkets_operator=jf_\w{49}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  );
  const shown = await sessionOf(browser);
  fit(t, "GET", "/api/operator/session", shown);
  t.deepEqual(shown.body, { staffId, name, email, roles: ["cash", "markets"] });

  const stolen = makeDesk();
  stolen.cookie = browser.cookie;
  const out = await browser.call("DELETE", "/api/operator/session");
  fit(t, "DELETE", "/api/operator/session", out);
  t.deepEqual([out.status, out.body], [200, {}]);
  t.regex(out.headers.getSetCookie().join(), /^pgmarkets_operator=; Path=\/; Max-Age=0;/);
  t.is(browser.cookie, undefined);
  t.is((await sessionOf(stolen)).status, 401);
  t.is((await ask(stolen, "{ __typename }")).status, 401);
});

test.serial("429: queries of a member count together, whatever the session", async (t) => {
  const { member, browser } = await signedIn(["audit"]);
  const [second, other] = [makeDesk(), await signedIn(["audit"])];
  t.is((await signIn(member, {}, second)).status, 200);
  await operate("set_rate_limit", { bucket: "graphql", max_requests: 2, window_seconds: 60 });
  t.is((await ask(browser, "{ __typename }")).status, 200);
  t.is((await ask(second, "{ __typename }")).status, 200);
  const { status, headers } = await ask(browser, "{ __typename }");
  t.is(status, 429);
  t.true(Number(headers.get("retry-after")) > 0);
  t.is((await ask(other.browser, "{ __typename }")).status, 200);
  await operate("set_rate_limit", { bucket: "graphql", max_requests: 600, window_seconds: 60 });
});

test.serial("429: a session of staff is counted by its member, not by its address", async (t) => {
  const { browser } = await signedIn(["audit"]);
  const { visitor } = await makeMember(service);
  const limit = (bucket: string, max_requests: number) =>
    operate("set_rate_limit", { bucket, max_requests, window_seconds: 60 });
  await limit("v1-auth", 1);
  await limit("v1-user", 2);
  await visitor.call("GET", "/api/auth/token");
  t.is((await visitor.call("GET", "/api/auth/token")).status, 429);
  for (const status of [200, 200, 429]) t.is((await sessionOf(browser)).status, status);
  await limit("v1-auth", 1_000_000);
  await limit("v1-user", 1_000_000);
});

test.serial("401 WRONG_CREDENTIALS: one answer for whatever is wrong", async (t) => {
  const [member, other] = [await makeStaff(["cash"]), await makeStaff(["cash"])];
  const trader = await makeMember(service);
  const stranger = makePasskey(member.passkey.userHandle);
  const wrong: [string, Change][] = [
    ["the password", { password: "wrong password" }],
    ["the password of another", { password: other.password }],
    ["the address of another", { email: other.email }],
    ["the address of nobody", { email: "nobody@staff.example" }],
    ["the address and password of a trader", trader.person],
    ["a passkey that nobody has", { passkey: stranger }],
    ["the passkey of another", { passkey: other.passkey }],
    ["the id of the passkey, signed by another", { passkey: { ...stranger, ...idOf(member) } }],
    ["another site", { ceremony: { origin: "https://evil.example" } }],
    ["no verification of the user", { ceremony: { isUserVerified: false } }],
    ["a challenge that was never made", { ceremony: { challenge: madeUp() } }],
  ];
  for (const [name, change] of wrong) {
    const answer = await signIn(member, change);
    t.deepEqual([answer.status, answer.body], [401, wrongCredentials], name);
    t.deepEqual(answer.headers.getSetCookie(), [], name);
  }
  t.is((await signIn(member)).status, 200);
});

const idOf = ({ passkey: { credentialId } }: Member) => ({ credentialId });
const madeUp = () => randomBytes(32).toString("base64url");

test.serial("401 WRONG_CREDENTIALS: a challenge is good for one attempt", async (t) => {
  const { email, password, passkey } = await makeStaff(["cash"]);
  const browser = makeDesk();
  const challenge = await newChallenge(browser);
  const credential = assertionOf(passkey, { ...siteOf(), challenge });
  const send = (given: string) =>
    browser.call("POST", "/api/operator/sign-in", {
      body: { email, password: given, credential },
    });
  t.is((await send("wrong password")).status, 401);
  t.is((await send(password)).status, 401);
});

test.serial("a sign-in ends the session that the browser had before", async (t) => {
  const { member, browser } = await signedIn(["cash"]);
  const old = makeDesk();
  old.cookie = browser.cookie;
  t.is((await signIn(member, {}, browser)).status, 200);
  t.not(browser.cookie, old.cookie);
  t.is((await sessionOf(old)).status, 401);
  t.is((await sessionOf(browser)).status, 200);
});

test.serial("under https the cookie has the name that no subdomain can set", async (t) => {
  const member = await makeStaff(["cash"]);
  const browser = makeDesk();
  const https = { "x-forwarded-proto": "https", origin: desk.url.replace("http:", "https:") };
  const ceremony = { origin: https.origin };
  const answer = await signIn(member, { headers: https, ceremony }, browser);
  t.is(answer.status, 200);
  t.regex(
    answer.headers.getSetCookie().join("\n"),
    /^__Host-pgmarkets_operator=jf_\w{49}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
  );
  const at = (cookie: string) =>
    browser.call("GET", "/api/operator/session", { headers: { ...https, cookie } });
  const [name, value] = browser.cookie!.split("=");
  t.is((await at(`${name}=${value}`)).status, 200);
  t.is((await at(`pgmarkets_operator=${value}`)).status, 401);
});

test.serial("a command by the session is in the audit log under the person's name", async (t) => {
  const { member, browser } = await signedIn(["markets"]);
  const { status, body } = await ask(browser, createCategory("by-session"));
  t.is(status, 200);
  t.is(body.errors, undefined);
  const query = "{ allAuditEntries(orderBy: AUDIT_KEY_DESC, first: 1) { nodes { %s } } }";
  const fields = "action arguments staffName staffKey";
  const log = await ask(browser, query.replace("%s", fields));
  t.deepEqual(log.body.data.allAuditEntries.nodes, [
    {
      action: "create_category",
      arguments: { slug: "by-session", name: "New", position: null },
      staffName: member.name,
      staffKey: null,
    },
  ]);
});

test.serial("commands of two sessions at the same time are each the person's own", async (t) => {
  const people = [await signedIn(["markets"]), await signedIn(["markets", "cash"])];
  const made = people.flatMap(({ member, browser }, person) =>
    Array.from({ length: 15 }, async (_, index) => {
      const slug = `at-once-${person}-${index}`;
      const { body } = await ask(browser, createCategory(slug));
      t.is(body.errors, undefined);
      return [slug, member.name];
    }),
  );
  const expected = await Promise.all(made);
  const log = await ask(
    people[0]!.browser,
    "{ allAuditEntries(orderBy: AUDIT_KEY_DESC, first: 40) { nodes { staffName arguments } } }",
  );
  const entries = log.body.data.allAuditEntries.nodes
    .filter((entry: any) => entry.arguments.slug?.startsWith("at-once-"))
    .map((entry: any) => [entry.arguments.slug, entry.staffName]);
  t.deepEqual(entries.toSorted(), expected.toSorted());
});

test.serial("ROLE_REQUIRED: a session may do what its roles may, and audit reads", async (t) => {
  const { member, browser } = await signedIn(["audit"]);
  const codes = async () => {
    const { body } = await ask(browser, createCategory("by-audit"));
    return body.errors?.map(({ extensions }: any) => extensions.code);
  };
  t.deepEqual(await codes(), ["ROLE_REQUIRED"]);
  const read = await ask(browser, "{ allMarkets { totalCount } }");
  t.is(typeof read.body.data.allMarkets.totalCount, "number");
  await operate("set_staff_roles", { staff_id: member.staffId, roles: ["cash"] });
  t.deepEqual(await codes(), ["ROLE_REQUIRED"]);
  await operate("set_staff_roles", { staff_id: member.staffId, roles: ["markets"] });
  t.is(await codes(), undefined);
});

test.serial("401 UNAUTHORIZED: the session of who was removed, and one that is over", async (t) => {
  const gone = await signedIn(["cash"]);
  await operate("remove_staff", { staff_id: gone.member.staffId });
  t.is((await sessionOf(gone.browser)).status, 401);
  t.is((await ask(gone.browser, "{ __typename }")).status, 401);
  t.is((await signIn(gone.member)).status, 401);

  const { browser } = await signedIn(["cash"]);
  const clock = testClock(service.database.pool);
  await clock.freeze("2090-01-01T00:00:00Z");
  t.is((await sessionOf(browser)).status, 401);
  t.is((await ask(browser, "{ __typename }")).status, 401);
  await clock.release();
});

test.serial("WRONG_ORIGIN: other sites can't use the session", async (t) => {
  const { member, browser } = await signedIn(["markets"]);
  const elsewhere = { headers: { origin: "https://evil.example" } };
  const answers = [
    await browser.call("DELETE", "/api/operator/session", elsewhere),
    await signIn(member, elsewhere),
    await browser.call("POST", "/api/operator/invitation", { body: { token: "x" }, ...elsewhere }),
    await browser.call("POST", "/api/operator/invitation/accept", { body: {}, ...elsewhere }),
    await browser.call("POST", "/api/operator/passkeys/options", elsewhere),
    await browser.call("POST", "/api/operator/passkeys", { body: {}, ...elsewhere }),
    await ask(browser, createCategory("by-another-site"), elsewhere),
    await ask(browser, createCategory("by-another-site"), { headers: { origin: "null" } }),
  ];
  for (const { status, body } of answers) t.deepEqual([status, body.code], [403, "WRONG_ORIGIN"]);

  const query = createCategory("by-a-form");
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    const form = { body: JSON.stringify({ query }), headers: { "content-type": type } };
    t.is((await browser.call("POST", "/admin/graphql", form)).status, 415, type);
  }
  const path = `/admin/graphql?query=${encodeURIComponent(query)}`;
  t.is((await browser.call("GET", path)).status, 404);
  t.is((await browser.call("POST", path, { body: "" })).status, 400);
  t.is((await ask(browser, query, { body: [{ query }] })).status, 400, "no batches");

  t.is((await ask(browser, createCategory("by-our-page"))).body.errors, undefined);
  const log = await ask(browser, "{ allAuditEntries { nodes { arguments } } }");
  const slugs = log.body.data.allAuditEntries.nodes.map((entry: any) => entry.arguments.slug);
  t.true(slugs.includes("by-our-page"));
  t.deepEqual(
    slugs.filter((slug?: string) => /^by-a(?:nother-site|-form)$/.test(slug ?? "")),
    [],
  );
});

test.serial("401 UNAUTHORIZED: sessions of traders and of staff open nothing else", async (t) => {
  const { visitor } = await makeMember({ url: desk.url, worker: service.worker });
  const trader = makeDesk();
  const [, jar] = visitor.cookie!.split("=");
  for (const cookie of [visitor.cookie, `pgmarkets_operator=${jar}`]) {
    trader.cookie = cookie;
    t.is((await ask(trader, "{ __typename }")).status, 401);
    t.is((await sessionOf(trader)).status, 401);
  }
  t.is((await ask(trader, "{ __typename }", { key: (await visitor.token())! })).status, 401);

  const { browser } = await signedIn(["users"]);
  const [, value] = browser.cookie!.split("=");
  const ofUser = { headers: { cookie: `pgmarkets_session=${value}` } };
  for (const { method, path } of routes.filter(({ auth }) => auth === "session")) {
    for (const options of [{}, ofUser]) {
      t.is((await browser.call(method.toUpperCase(), path, options)).status, 401, path);
    }
  }
  for (const { method, path } of routes.filter(({ auth }) => ["key", "token"].includes(auth))) {
    const at = path.replace(":id", "01900000-0000-7000-8000-000000000000");
    for (const options of [{}, { key: value! }]) {
      t.is((await browser.call(method.toUpperCase(), at, options)).status, 401, path);
    }
  }
});

test.serial("an Authorization header wins over the cookie", async (t) => {
  const { browser } = await signedIn(["audit"]);
  const key: string = await operate("create_staff_key", { name: "Otto", role: "operator" });
  const { body } = await ask(browser, createCategory("by-key"), { key });
  t.is(body.errors, undefined);
  t.is((await ask(browser, "{ __typename }", { key: "nonsense" })).status, 401);
  const programs = { key, headers: { origin: "https://tool.example" } };
  t.is((await ask(browser, "{ __typename }", programs)).status, 200, "keys work from everywhere");
});

test.serial("429: attempts without a passkey count by address, others by passkey", async (t) => {
  const member = await makeStaff(["cash"]);
  const stranger = makePasskey(member.passkey.userHandle);
  const limit = (bucket: string, max_requests: number) =>
    operate("set_rate_limit", { bucket, max_requests, window_seconds: 900 });
  await limit("sign-in", 2);
  await limit("sign-in-account", 3);
  const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
  for (const status of [401, 401, 429]) {
    const answer = await signIn(member, { passkey: stranger, ...from("192.0.2.1") });
    t.is(answer.status, status);
  }
  const { visitor, person } = await makeMember(service);
  const { email, password } = person;
  const asTrader = { body: { email, password }, ...from("192.0.2.1") };
  t.is((await visitor.call("POST", "/api/account/sign-in", asTrader)).status, 200);

  for (const status of [200, 401, 401, 429]) {
    const password = status === 200 ? member.password : "wrong password";
    const address = status === 429 ? "192.0.2.2" : "192.0.2.1";
    t.is((await signIn(member, { password, ...from(address) })).status, status);
  }
  const other = await makeStaff(["cash"]);
  t.is((await signIn(other, from("192.0.2.1"))).status, 200);
  await limit("sign-in", 1_000_000);
  await limit("sign-in-account", 1_000_000);
});

test.serial("no password is hashed for who has no passkey of staff", async (t) => {
  const member = await makeStaff(["cash"]);
  const stranger = makePasskey(member.passkey.userHandle);
  const { reads } = desk.context;
  const getSettings = reads.getStaffPasswordSettings;
  let hashed = 0;
  reads.getStaffPasswordSettings = async (of) => {
    hashed++;
    return await getSettings(of);
  };
  t.is((await signIn(member, { passkey: stranger })).status, 401);
  t.is((await signIn(member, { ceremony: { origin: "https://evil.example" } })).status, 401);
  t.is(hashed, 0, "a password is hashed by settings that are asked for");
  for (const email of [member.email, "nobody@staff.example"]) {
    await signIn(member, { email, password: "wrong password" });
  }
  t.is(hashed, 2, "for every address");
  reads.getStaffPasswordSettings = getSettings;
});

test.serial("a server without a login of operators signs in, and has no GraphQL", async (t) => {
  const { browser } = await signedIn(["cash"]);
  const headers = { cookie: browser.cookie!, origin: service.url };
  t.is((await service.call("GET", "/api/operator/session", { headers })).status, 200);
  const body = { query: "{ __typename }" };
  t.is((await service.call("POST", "/admin/graphql", { headers, body })).status, 404);
});

test.serial("each of these routes was asked for", (t) => {
  const successes = operatorAccessRoutes.flatMap(({ operationId, responses }) =>
    Object.keys(responses).map((status) => `${operationId} ${status}`),
  );
  t.deepEqual(
    successes.filter((name) => !met.has(name)),
    [],
  );
});
