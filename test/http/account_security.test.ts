import { randomBytes } from "node:crypto";
import test from "ava";
import { isForOwnPages } from "../../src/api/route.ts";
import { routes } from "../../src/api/routes.ts";
import { formatSecret } from "../../src/secrets.ts";
import { testClock } from "../helpers/database/test_clock.ts";
import { callService, testService } from "../helpers/http/test_service.ts";
import { anybody, makeMember, makeVisitor, takeMails } from "../helpers/http/visitor.ts";

/** Who gets to the routes of accounts, from where, and how often. Made from the table of routes. */

const service = testService(test, { limited: true, playMoneyCents: 0 });
const { call, makeTrader, operate } = service;

test.serial.before("lift rate limits", async () => {
  for (const bucket of ["v1", "v1-auth", "v1-user", "sign-up", "mail-account"]) {
    await operate("set_rate_limit", { bucket, max_requests: 1_000_000, window_seconds: 1 });
  }
});

const ofAccounts = routes.filter(({ tag }) => tag === "Account");
const withToken = ofAccounts.filter(({ auth }) => auth === "token");
const changing = ofAccounts.filter(({ method }) => method !== "get");
const pathOf = (path: string) => path.replace(":id", "01900000-0000-7000-8000-000000000000");
const nameOf = ({ method, path }: (typeof routes)[number]) => `${method.toUpperCase()} ${path}`;

test("every change of an account is checked for its origin, and reads are not", (t) => {
  t.true(ofAccounts.length > 20);
  for (const route of ofAccounts) {
    t.is(isForOwnPages(route), route.method !== "get", nameOf(route));
    t.true(route.path.startsWith("/api/account"), nameOf(route));
  }
  const open = ofAccounts.filter(({ auth }) => auth === "none");
  t.deepEqual(open.map(({ operationId }) => operationId).toSorted(), [
    ...["confirmEmail", "getLink", "getSignUp", "requestPasswordReset", "resetPassword", "signIn"],
    ...["signInByLink", "signInByPasskey", "signUp", "startPasskeySignIn"],
  ]);
});

for (const route of withToken) {
  test.serial(
    `401: ${nameOf(route)} without a credential, with an API key, and with a cookie alone`,
    async (t) => {
      const { key } = await makeTrader();
      const { visitor } = await makeMember(service);
      const cookie = visitor.cookie!;
      for (const options of [
        {},
        { key },
        { key: formatSecret(randomBytes(32), "jt_") },
        { key: cookie.split("=")[1]! },
        { headers: { cookie } },
      ]) {
        const answer = await call(route.method.toUpperCase(), pathOf(route.path), {
          ...options,
          headers: { origin: service.url, ...("headers" in options && options.headers) },
          ...(route.request.body && { body: {} }),
        });
        t.deepEqual([answer.status, answer.body], [401, { error: "Unauthorized" }]);
      }
    },
  );
}

test.serial("401: a token of a session that has expired or ended", async (t) => {
  const clock = testClock(service.database.pool);
  const [ended, expired] = [await makeMember(service), await makeMember(service)];
  const tokens = [await ended.visitor.token(), await expired.visitor.token()];
  await ended.visitor.call("POST", "/api/account/sign-out");
  await clock.advance(300_000);
  for (const route of withToken) {
    for (const key of tokens) {
      const answer = await call(route.method.toUpperCase(), pathOf(route.path), {
        key: key!,
        headers: { origin: service.url },
        ...(route.request.body && { body: {} }),
      });
      t.is(answer.status, 401, nameOf(route));
    }
  }
  await clock.advance(31 * 86_400_000);
  t.is(await expired.visitor.token(), undefined, "after 30 days there is no other token");
  await clock.release();
});

for (const route of changing) {
  test.serial(
    `403 WRONG_ORIGIN: ${nameOf(route)} from another site, or from nowhere`,
    async (t) => {
      const { visitor } = await makeMember(service);
      const before = (await visitor.call("GET", "/api/account")).body;
      const token = await visitor.token();
      const { host } = new URL(service.url);
      for (const origin of [undefined, "null", "https://evil.example", `https://${host}`, ""]) {
        const answer = await call(route.method.toUpperCase(), pathOf(route.path), {
          ...(route.auth === "token" && { key: token! }),
          headers: { cookie: visitor.cookie!, ...(origin !== undefined && { origin }) },
          ...(route.request.body && { body: { email: "x@test.example", password: "p" } }),
        });
        t.deepEqual([answer.status, answer.body.code], [403, "WRONG_ORIGIN"], String(origin));
      }
      t.deepEqual((await visitor.call("GET", "/api/account")).body, before);
    },
  );
}

const from = (address: string) => ({ "x-forwarded-for": address });

const attemptFrom = (
  visitor: ReturnType<typeof makeVisitor>,
  email: string,
  password: string,
  address: string,
) =>
  visitor.call("POST", "/api/account/sign-in", {
    body: { email, password },
    headers: from(address),
  });
/** Signs in by a passkey with this id of the user with this handle, without its key. */
const forgeFrom = (
  visitor: ReturnType<typeof makeVisitor>,
  { id, userHandle }: { id: string; userHandle: string },
  address: string,
) => {
  const signed = { clientDataJSON: "AA", authenticatorData: "AA", signature: "AA" };
  const credential = { id, rawId: id, type: "public-key", response: { ...signed, userHandle } };
  return visitor.call("POST", "/api/account/sign-in-passkey", {
    body: { credential },
    headers: from(address),
  });
};
const limitStrangers = (max_requests: number) =>
  operate("set_rate_limit", { bucket: "sign-in-strangers", max_requests, window_seconds: 900 });

test.serial("429: attempts to sign in are limited by account, from any address", async (t) => {
  await limitStrangers(10);
  const { person } = await makeMember(service);
  const attempt = (email: string, password: string, address: number) =>
    attemptFrom(makeVisitor(service), email, password, `192.0.2.${address}`);
  for (const email of [person.email, "unknown@test.example"]) {
    for (let number = 0; number < 10; number++) {
      const shouted = number % 2 === 0 ? email : email.toUpperCase();
      t.is((await attempt(shouted, "wrong password", number)).status, 401);
    }
    const refused = await attempt(email, person.password, 99);
    t.is(refused.status, 429, "the right password too");
    t.deepEqual(refused.body, { error: "Too many requests" });
    t.true(Number(refused.headers.get("retry-after")) > 0);
  }
});

test.serial("429: one address uses up only its own attempts of an account", async (t) => {
  await limitStrangers(100);
  const { person } = await makeMember(service);
  const attempt = (email: string, password: string, address: string) =>
    attemptFrom(makeVisitor(service), email, password, address);
  for (const email of [person.email, "nobody@test.example"]) {
    for (let number = 0; number < 10; number++) {
      t.is((await attempt(email, "wrong password", "192.0.2.51")).status, 401);
    }
    t.is((await attempt(email, person.password, "192.0.2.51")).status, 429);
    const elsewhere = await attempt(email, person.password, "192.0.2.52");
    t.is(elsewhere.status, email === person.email ? 200 : 401);
  }
});

test.serial("strangers use up no attempt of a browser in which the user was before", async (t) => {
  await limitStrangers(10);
  const { person, visitor } = await makeMember(service);
  const other = await makeMember(service);
  for (const [one, who] of [
    [visitor, person],
    [other.visitor, other.person],
  ] as const) {
    const answer = await attemptFrom(one, who.email, who.password, "192.0.2.60");
    t.is(answer.status, 200);
    t.regex(
      answer.headers.getSetCookie()[1]!,
      /^pgmarkets_browser=[0-9a-f]{64}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/,
    );
  }
  await visitor.call("POST", "/api/account/sign-out");
  t.is(visitor.cookie, undefined);
  const marked = (mark: string | undefined) => Object.assign(makeVisitor(service), { mark });
  for (let number = 0; number < 10; number++) {
    const refused = await attemptFrom(
      ...([
        makeVisitor(service),
        person.email,
        "wrong password",
        `192.0.2.${61 + number}`,
      ] as const),
    );
    t.is(refused.status, 401);
  }
  const { email, password } = person;
  for (const mark of [undefined, other.visitor.mark, `pgmarkets_browser=${"0".repeat(64)}`]) {
    t.is((await attemptFrom(marked(mark), email, password, "192.0.2.80")).status, 429);
  }
  t.is((await attemptFrom(marked(visitor.mark), email, password, "192.0.2.81")).status, 200);
  for (let number = 0; number < 10; number++) {
    const wrong = await attemptFrom(
      ...([marked(visitor.mark), email, "wrong password", `192.0.2.${82 + number}`] as const),
    );
    t.is(wrong.status, 401);
  }
  t.is((await attemptFrom(marked(visitor.mark), email, password, "192.0.2.99")).status, 429);
});

test.serial(
  "strangers behind the same address block neither a known browser nor a link",
  async (t) => {
    await limitStrangers(100);
    const { person, visitor, userId } = await makeMember(service);
    const address = "198.51.100.90";
    t.is((await attemptFrom(visitor, person.email, person.password, address)).status, 200);
    await visitor.call("POST", "/api/account/password-reset", { body: { email: person.email } });
    const { token } = (await takeMails(service.worker)).find(
      ({ kind }) => kind === "password_reset",
    )!;
    // The first sign-in of the user was the first of 30.
    for (let number = 1; number <= 30; number++) {
      const email = `nobody-${number}@test.example`;
      const answer = await attemptFrom(makeVisitor(service), email, "wrong", address);
      t.is(answer.status, number < 30 ? 401 : 429);
    }
    const setBy = (link: string | undefined, password: string) =>
      makeVisitor(service).call("POST", "/api/account/password-reset/confirm", {
        body: { token: link, password },
        headers: from(address),
      });
    await operate("set_rate_limit", {
      ...{ bucket: "unknown-key", max_requests: 2, window_seconds: 60 },
    });
    const unknown = () => formatSecret(randomBytes(32), "jl_");
    for (const status of [400, 400, 429]) {
      t.is((await setBy(unknown(), "a password of nobody")).status, status);
    }
    t.is((await attemptFrom(visitor, person.email, person.password, address)).status, 200);
    const change = { currentPassword: person.password, newPassword: "the owner's next one" };
    const changed = await visitor.call("PUT", "/api/account/password", {
      ...{ body: change, headers: from(address) },
    });
    t.is(changed.status, 200);
    await visitor.call("POST", "/api/account/password-reset", { body: { email: person.email } });
    const again = (await takeMails(service.worker)).find(({ kind }) => kind === "password_reset")!;
    t.not(again.token, token);
    t.deepEqual((await setBy(again.token, "one more of the owner")).body.userId, userId);
    await operate("set_rate_limit", {
      ...{ bucket: "unknown-key", max_requests: 120, window_seconds: 60 },
    });
  },
);

test.serial("a sign-in is reported unless the browser has the mark of the user", async (t) => {
  await limitStrangers(100);
  const { person, visitor, userId } = await makeMember(service);
  const signIn = (one: ReturnType<typeof makeVisitor>, password = person.password) =>
    attemptFrom(one, person.email, password, "198.51.100.91");
  const reports = async () => {
    const mails = await takeMails(service.worker);
    return mails.filter(({ kind, to }) => kind === "new_sign_in" && to === person.email).length;
  };
  await signIn(visitor);
  await takeMails(service.worker);
  await signIn(visitor);
  t.is(await reports(), 0);
  const thief = makeVisitor(service);
  await signIn(thief);
  t.is(await reports(), 1, "it calls itself like the browser of the owner");

  const { email } = person;
  await operate("recover_account", { user_id: userId, email });
  const { token } = (await takeMails(service.worker)).find(({ kind }) => kind === "recovery")!;
  const password = "the owner's own password";
  const owner = makeVisitor(service);
  await owner.call("POST", "/api/account/password-reset/confirm", { body: { token, password } });
  await takeMails(service.worker);
  t.is((await signIn(owner, password)).status, 200);
  t.is(await reports(), 0, "the browser of the new password is known");
  for (let number = 0; number < 10; number++) await signIn(thief, "wrong password");
  t.is((await signIn(owner, password)).status, 200, "the thief's is not known any more");
  t.is((await signIn(thief, password)).status, 429, "it is a stranger, counted by address");
});

test.serial("a change of password leaves only the browser known that made it", async (t) => {
  await limitStrangers(100);
  const { person, visitor } = await makeMember(service);
  const { email } = person;
  const signIn = (one: ReturnType<typeof makeVisitor>, password: string) =>
    attemptFrom(one, email, password, "198.51.100.92");
  const thief = makeVisitor(service);
  for (const one of [visitor, thief]) t.is((await signIn(one, person.password)).status, 200);
  const newPassword = "another password of the owner";
  const headers = { "x-forwarded-for": "198.51.100.93" };
  const changed = await visitor.call("PUT", "/api/account/password", {
    body: { currentPassword: person.password, newPassword },
    headers,
  });
  t.is(changed.status, 200);
  for (let number = 0; number < 10; number++) {
    t.is((await signIn(thief, "a wrong password")).status, 401);
  }
  t.is((await signIn(thief, newPassword)).status, 429, "it is a stranger, counted by address");
  t.is((await signIn(visitor, newPassword)).status, 200, "known, and counted by itself");
  await takeMails(service.worker);
});

test.serial("sign-ins of the user change nothing that a stranger can count", async (t) => {
  await limitStrangers(10);
  const { person } = await makeMember(service);
  const attempt = (password: string, number: number) =>
    attemptFrom(makeVisitor(service), person.email, password, `203.0.113.${100 + number}`);
  for (let number = 0; number < 10; number++) {
    if (number % 3 === 0) t.is((await attempt(person.password, 50)).status, 200);
    t.is((await attempt("wrong password", number)).status, 401);
  }
  t.is((await attempt("wrong password", 10)).status, 429);
});

test.serial("429: attempts are limited by address, whatever the account", async (t) => {
  const attempt = (number: number) =>
    makeVisitor(service).call("POST", "/api/account/sign-in", {
      body: { email: `unknown-${number}@test.example`, password: "wrong password" },
      headers: from("198.51.100.7"),
    });
  for (let number = 0; number < 30; number++) t.is((await attempt(number)).status, 401);
  t.is((await attempt(30)).status, 429);
});

test.serial("429: attempts at once from many connections are counted exactly", async (t) => {
  await limitStrangers(10);
  const { person } = await makeMember(service);
  const answers = await Promise.all(
    Array.from({ length: 25 }, (_, number) =>
      makeVisitor(service).call("POST", "/api/account/sign-in", {
        body: { email: person.email, password: "wrong password" },
        headers: from(`203.0.113.${number}`),
      }),
    ),
  );
  t.is(answers.filter(({ status }) => status === 401).length, 10);
  t.is(answers.filter(({ status }) => status === 429).length, 15);
});

test.serial("429: attempts by one passkey, and by one address, known or not", async (t) => {
  const attempt = (id: string, address: string) =>
    forgeFrom(makeVisitor(service), { id, userHandle: "AA" }, address);
  // The last two bits of 43 letters stand for no byte: all four texts are one id.
  const ids = ["A", "B", "C", "D"].map((last) => `${"x".repeat(42)}${last}`);
  for (let number = 0; number < 10; number++) {
    t.is((await attempt(ids[number % 4]!, `192.0.2.${100 + number}`)).status, 403);
  }
  for (const id of ids) t.is((await attempt(id, "192.0.2.120")).status, 429);
  const another = () => randomBytes(32).toString("base64url");
  for (let number = 0; number < 30; number++) {
    t.is((await attempt(another(), "198.51.100.8")).status, 403);
  }
  t.is((await attempt(another(), "198.51.100.8")).status, 429);
});

test.serial("who names the passkey of another is no known browser of their own", async (t) => {
  const { person, visitor, userId } = await makeMember(service);
  const { email, password } = person;
  t.is((await attemptFrom(visitor, email, password, "192.0.2.139")).status, 200);
  t.truthy(visitor.mark);
  const own = Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url");
  const id = randomBytes(32).toString("base64url");
  const attempt = (address: string) => forgeFrom(visitor, { id, userHandle: own }, address);
  // Known browsers count by the passkey alone, from any address; others by the address too.
  await operate("set_rate_limit", { bucket: "sign-in", max_requests: 2, window_seconds: 900 });
  t.is((await attempt("192.0.2.140")).status, 403);
  t.is((await attempt("192.0.2.140")).status, 403);
  t.is((await attempt("192.0.2.140")).status, 429);
  await operate("set_rate_limit", { bucket: "sign-in", max_requests: 30, window_seconds: 900 });
});

test.serial(
  "who has the address of another later is not known in that one's browser",
  async (t) => {
    await limitStrangers(100);
    const { person, visitor } = await makeMember(service);
    const { email, password } = person;
    t.is((await attemptFrom(visitor, email, password, "198.51.100.149")).status, 200);
    const moved = { email: `moved-${email}`, password };
    await visitor.call("POST", "/api/account/email", {
      body: moved,
      headers: from("198.51.100.149"),
    });
    const confirm = async (who: typeof visitor) => {
      const mails = await takeMails(service.worker);
      const { token } = mails.find(({ kind }) => /^(confirm_email|email_change)$/.test(kind))!;
      const body = { token };
      t.is((await who.call("POST", "/api/account/email/confirm", { body })).status, 200);
    };
    await confirm(visitor);
    const later = makeVisitor(service);
    await later.call("POST", "/api/account/sign-up", { body: { ...anybody(), email } });
    await confirm(later);
    const signIn = (address: string) => attemptFrom(visitor, email, "a wrong password", address);
    for (let number = 0; number < 12; number++) {
      t.is((await signIn(`198.51.100.${150 + number}`)).status, 401, "counted by address");
    }
  },
);

test.serial(
  "under https the cookie is Secure and __Host-, and good under no other name",
  async (t) => {
    const publicUrl = "https://markets.example";
    const secureUrl = await service.serveBeside(t, { publicUrl });
    const post = (path: string, headers: Record<string, string>, body: object) =>
      callService(secureUrl, "POST", path, { body, headers });
    const wrong = await post("/api/account/sign-up", { origin: secureUrl }, anybody());
    t.is(wrong.body.code, "WRONG_ORIGIN");
    const answer = await post("/api/account/sign-up", { origin: publicUrl }, anybody());
    const [cookie] = answer.headers.getSetCookie();
    t.regex(
      cookie!,
      /^__Host-pgmarkets_session=jh_\w{49}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/,
    );
    const value = /=(jh_\w+)/.exec(cookie!)![1]!;
    const tokenFor = async (header: string) =>
      (await callService(secureUrl, "GET", "/api/auth/token", { headers: { cookie: header } }))
        .status;
    t.is(await tokenFor(`__Host-pgmarkets_session=${value}`), 200);
    t.is(await tokenFor(`pgmarkets_session=${value}`), 401, "planted by a subdomain");
    const { visitor } = await makeMember(service);
    const plain = visitor.cookie!.split("=")[1]!;
    t.is(await tokenFor(`__Host-pgmarkets_session=${plain}`), 401);
    t.is(await tokenFor(`pgmarkets_session=${plain}`), 401, "a session of plain http");
    t.is(await tokenFor(`pgmarkets_session=${plain}; __Host-pgmarkets_session=${value}`), 200);
    const { userId } = await makeTrader();
    const made = await operate("create_session", { user_id: userId, is_host_only: true });
    t.is(await tokenFor(`__Host-pgmarkets_session=${made}`), 200);
  },
);

test.serial(
  "a request is checked for its caller, its count, its origin, then its body",
  async (t) => {
    await operate("set_rate_limit", { bucket: "v1", max_requests: 2, window_seconds: 3600 });
    const send = (path: string, address: string, origin: string, body: unknown) =>
      call("POST", path, { headers: { ...from(address), origin }, body });
    const foreign = "https://elsewhere.example";
    const noJson = "{";
    const signIn = "/api/account/sign-in";
    t.is((await send("/api/account/keys", "192.0.2.200", foreign, noJson)).status, 401);
    const refused = await send(signIn, "192.0.2.201", foreign, noJson);
    t.deepEqual([refused.status, refused.body.code], [403, "WRONG_ORIGIN"]);
    const malformed = await send(signIn, "192.0.2.201", service.url, noJson);
    t.deepEqual([malformed.status, malformed.body.code], [400, "INVALID_REQUEST"]);
    t.is((await send(signIn, "192.0.2.201", foreign, noJson)).status, 429, "both have counted");
    await operate("set_rate_limit", { bucket: "v1", max_requests: 1_000_000, window_seconds: 1 });
  },
);

test.serial("429: every route that tries a secret or sends a mail counts attempts", async (t) => {
  const { visitor: member } = await makeMember(service);
  const { visitor: another } = await makeMember(service);
  const { visitor: third } = await makeMember(service);
  const owners = new Map([
    ["/api/account/password", member],
    ["/api/account/email", another],
  ]);
  for (const bucket of ["sign-in", "sign-up", "mail", "unknown-key", "sign-in-account"]) {
    await operate("set_rate_limit", { bucket, max_requests: 1, window_seconds: 3600 });
  }
  const password = "not the password";
  const token = "no link";
  const attempts = [
    ["POST", "/api/account/sign-up", () => anybody()],
    ["POST", "/api/account/sign-in", () => ({ email: anybody().email, password })],
    ["POST", "/api/account/sign-in-link", () => ({ token })],
    ["POST", "/api/account/password-reset", () => ({ email: anybody().email })],
    ["POST", "/api/account/password-reset/confirm", () => ({ token, password: "a long new one" })],
    ["POST", "/api/account/email/confirm", () => ({ token })],
    [
      ...["PUT", "/api/account/password"],
      () => ({ currentPassword: password, newPassword: "a long new one" }),
    ],
    ["POST", "/api/account/email", () => ({ email: anybody().email, password })],
    ["POST", "/api/account/email/resend", () => undefined, "mail-account"],
  ] as [string, string, () => object | undefined, string?][];
  for (const [index, [method, path, bodyOf, bucket]] of attempts.entries()) {
    if (bucket !== undefined) {
      await operate("set_rate_limit", { bucket, max_requests: 1, window_seconds: 3600 });
    }
    const isOfMembers = withToken.some((route) => route.path === path);
    const attempt = async () => {
      const visitor = isOfMembers ? (owners.get(path) ?? third) : makeVisitor(service);
      const body = bodyOf();
      const headers = from(`198.18.0.${index}`);
      return (await visitor.call(method, path, { headers, ...(body && { body }) })).status;
    };
    t.not(await attempt(), 429, path);
    t.is(await attempt(), 429, path);
  }
});
