import test from "ava";
import { testClock } from "../helpers/database/test_clock.ts";
import { openEvents } from "../helpers/http/event_source.ts";
import { testService } from "../helpers/http/test_service.ts";
import { anybody, makeMember, makeVisitor, takeMails } from "../helpers/http/visitor.ts";
import { until } from "../helpers/until.ts";

/** What users do with their accounts on the website: profile, limits, keys, sessions. */

const service = testService(test, { playMoneyCents: 100_000 });
const { call, makeMarket, makeTrader, operate } = service;

const member = () => makeMember(service);
const noLimits = { dayCents: null, weekCents: null, monthCents: null };

test.serial("a new user reviews the limits, trades, and makes a key for a bot", async (t) => {
  const marketId = await makeMarket();
  const { visitor, userId } = await member();
  const order = { marketId, side: "yes", price: 40, quantity: 5 };
  const early = await visitor.call("POST", "/api/v1/orders", { body: order });
  t.is(early.body.code, "LIMITS_SETUP_REQUIRED");
  const limits = await visitor.call("PUT", "/api/account/limits", { body: noLimits });
  t.is(limits.status, 200);
  t.not(limits.body.reviewedAt, null);
  t.is((await visitor.call("POST", "/api/v1/orders", { body: order })).status, 201);

  const made = await visitor.call("POST", "/api/account/keys", { body: { name: "my bot" } });
  t.is(made.status, 201);
  t.deepEqual(Object.keys(made.body), ["id", "name", "key"]);
  const { key, id } = made.body;
  t.is((await call("GET", "/api/v1/me", { key })).body.id, userId);
  const list = async () => (await visitor.call("GET", "/api/account/keys")).body.data;
  // No request waits until the use of its key is noted.
  await until("the use of the key is noted", async () => (await list())[0].lastUsedAt !== null);
  const listed = await list();
  t.deepEqual(
    listed.map((one: any) => [one.id, one.name]),
    [[id, "my bot"]],
  );
  t.false(JSON.stringify(listed).includes(key));

  const stream = await openEvents(`${service.url}/api/v1/user/stream`, {
    authorization: `Bearer ${key}`,
  });
  await stream.next();
  t.is((await visitor.call("DELETE", `/api/account/keys/${id}`)).status, 200);
  await stream.ended;
  t.is((await call("GET", "/api/v1/me", { key })).status, 401);
  t.deepEqual((await visitor.call("GET", "/api/account/keys")).body.data, []);
  t.is((await visitor.call("DELETE", `/api/account/keys/${id}`)).status, 200, "once more");
  const mails = await takeMails(service.worker);
  t.deepEqual(
    mails.map(({ kind }) => kind),
    ["limits_changed", "new_key"],
  );
});

test.serial("404 NOT_FOUND: a key or a session of another user cannot be ended", async (t) => {
  const [owner, stranger] = [await member(), await member()];
  const { body } = await owner.visitor.call("POST", "/api/account/keys", { body: { name: "k" } });
  const [session] = (await owner.visitor.call("GET", "/api/account/sessions")).body.data;
  for (const path of [`keys/${body.id}`, `sessions/${session.id}`]) {
    const answer = await stranger.visitor.call("DELETE", `/api/account/${path}`);
    t.deepEqual([answer.status, answer.body], [404, { error: "Not found" }]);
  }
  t.is((await call("GET", "/api/v1/me", { key: body.key })).status, 200);
  t.is((await owner.visitor.call("GET", "/api/account")).status, 200);
});

test.serial("limits: lowering at once, raising after 24 hours, with what is used", async (t) => {
  const clock = testClock(service.database.pool);
  await clock.freeze("2031-05-05T12:00:00Z");
  const { visitor } = await member();
  const marketId = await makeMarket();
  const set = async (dayCents: number | null) =>
    (await visitor.call("PUT", "/api/account/limits", { body: { ...noLimits, dayCents } })).body;
  t.deepEqual((await set(5000)).day, { limitCents: 5000, usedCents: 0, pending: null });
  const buy = (quantity: number) =>
    visitor.call("POST", "/api/v1/orders", {
      body: { marketId, side: "yes", price: 10, quantity },
    });
  t.is((await buy(300)).status, 201);
  t.is((await buy(201)).body.code, "LOSS_LIMIT");
  const raised = (await set(9000)).day;
  t.deepEqual(raised, {
    limitCents: 5000,
    usedCents: 3000,
    pending: { limitCents: 9000, at: "2031-05-06T12:00:00.000Z" },
  });
  t.deepEqual((await visitor.call("GET", "/api/account")).body.limits.day, raised);
  t.is((await set(3000)).day.limitCents, 3000);
  t.is((await set(null)).day.pending.limitCents, null);
  await clock.advance(86_400_000);
  t.is((await visitor.call("GET", "/api/account")).body.limits.day.limitCents, null);
  await clock.release();
});

test.serial(
  "self-exclusion cancels orders, refuses new ones, and is never shortened",
  async (t) => {
    const { visitor } = await member();
    const marketId = await makeMarket();
    await visitor.call("PUT", "/api/account/limits", { body: noLimits });
    const order = { marketId, side: "yes", price: 40, quantity: 5 };
    await visitor.call("POST", "/api/v1/orders", { body: order });
    const exclude = (until: string | null) =>
      visitor.call("POST", "/api/account/self-exclusion", { body: { until } });
    t.is((await exclude("2020-01-01T00:00:00Z")).status, 400);
    const until = "2090-01-01T00:00:00.000Z";
    const done = await exclude("2090-01-01T01:00:00+01:00");
    t.deepEqual([done.status, done.body], [200, { until, cancelledOrders: 1 }]);
    t.is(
      (await visitor.call("POST", "/api/v1/orders", { body: order })).body.code,
      "SELF_EXCLUDED",
    );
    t.is((await exclude("2089-01-01T00:00:00Z")).body.code, "INVALID_REQUEST");
    t.deepEqual((await visitor.call("GET", "/api/account")).body.exclusion, { until });
    t.deepEqual((await exclude(null)).body, { until: null, cancelledOrders: 0 });
    t.deepEqual((await visitor.call("GET", "/api/account")).body.exclusion, { until: null });
    t.is((await exclude(until)).body.code, "INVALID_REQUEST");
  },
);

test.serial("the profile is changed in part; 409 ALREADY_EXISTS for a handle in use", async (t) => {
  const { visitor, person } = await member();
  const other = await member();
  const change = (body: object) => visitor.call("PATCH", "/api/account/profile", { body });
  const changed = await change({ displayName: "Ann", private: true, handle: `${person.handle}-x` });
  t.like(changed.body, { displayName: "Ann", private: true, handle: `${person.handle}-x` });
  t.is(changed.body.email, person.email);
  t.is((await change({ handle: other.person.handle })).body.code, "ALREADY_EXISTS");
  const avatarUrl = "https://pictures.example/a.png";
  t.is((await change({ avatarUrl })).body.avatarUrl, avatarUrl);
  t.is((await change({ private: false })).body.avatarUrl, avatarUrl);
  t.is((await change({ avatarUrl: null })).body.avatarUrl, null);
  t.is((await change({ avatarUrl: "javascript:alert(1)" })).status, 400);
  t.is((await change({ displayName: "" })).status, 400);
});

test.serial("sessions are listed and ended: one, or all others", async (t) => {
  const { visitor, person } = await member();
  const others = [makeVisitor(service, "Chromium"), makeVisitor(service, "Safari")];
  const { email, password } = person;
  for (const other of others) {
    await other.call("POST", "/api/account/sign-in", { body: { email, password } });
  }
  const list = async () => (await visitor.call("GET", "/api/account/sessions")).body.data;
  t.deepEqual(
    (await list()).map(({ browser, current }: any) => [browser, current]),
    [
      ["Safari", false],
      ["Chromium", false],
      ["Firefox", true],
    ],
  );
  const [{ id }] = await list();
  t.deepEqual((await visitor.call("DELETE", `/api/account/sessions/${id}`)).body, { ended: 1 });
  t.is(await others[1]!.token(), undefined);
  t.is((await visitor.call("DELETE", `/api/account/sessions/${id}`)).status, 404);
  t.deepEqual((await visitor.call("DELETE", "/api/account/sessions")).body, { ended: 1 });
  t.is(await others[0]!.token(), undefined);
  t.is((await list()).length, 1);
});

test.serial("an account of an operator's making has no password until a reset", async (t) => {
  const { userId } = await makeTrader();
  const path: string = await operate("sign_in_link", { user_id: userId });
  const visitor = makeVisitor(service);
  const token = path.replace("/sign-in#", "");
  await visitor.call("POST", "/api/account/sign-in-link", { body: { token } });
  const profile = (await visitor.call("GET", "/api/account")).body;
  t.deepEqual([profile.hasPassword, profile.emailConfirmed], [false, true]);
  const wrong = await visitor.call("PUT", "/api/account/password", {
    body: { currentPassword: "", newPassword: "quite a long one" },
  });
  t.is(wrong.body.code, "WRONG_PASSWORD");
  await takeMails(service.worker);
  await visitor.call("POST", "/api/account/password-reset", { body: { email: profile.email } });
  const [mail] = await takeMails(service.worker);
  const body = { token: mail!.token, password: "quite a long one" };
  const reset = await visitor.call("POST", "/api/account/password-reset/confirm", { body });
  t.is(reset.body.userId, userId);
  t.true((await visitor.call("GET", "/api/account")).body.hasPassword);
});

// The minimum age of an exchange: at sign-up, and for users from before.

const setAge = (years: number) => operate("set_minimum_age", { years, reason: "a test" });

test.afterEach.always("no minimum age", () => setAge(0));

test.serial("without one the policy has none, and a sign-up says nothing about it", async (t) => {
  const visitor = makeVisitor(service);
  t.is((await visitor.call("GET", "/api/account/sign-up")).body.minimumAge, null);
  t.is((await visitor.call("POST", "/api/account/sign-up", { body: anybody() })).status, 201);
  t.is((await visitor.call("GET", "/api/account")).body.ageToConfirm, null);
});

test.serial("AGE_NOT_CONFIRMED: a sign-up without the age, or with a lower one", async (t) => {
  await setAge(18);
  const visitor = makeVisitor(service);
  t.is((await visitor.call("GET", "/api/account/sign-up")).body.minimumAge, 18);
  const person = anybody();
  for (const given of [{}, { confirmedAge: 17 }]) {
    const answer = await visitor.call("POST", "/api/account/sign-up", {
      body: { ...person, ...given },
    });
    t.is(answer.status, 400);
    t.deepEqual(answer.body, {
      error: "Confirm that you are 18 or older",
      code: "AGE_NOT_CONFIRMED",
    });
    t.is(visitor.cookie, undefined, "there is no session");
  }
  for (const confirmedAge of [0, 100, 18.5, "18", null]) {
    const body = { ...person, confirmedAge };
    const answer = await visitor.call("POST", "/api/account/sign-up", { body });
    t.is(answer.status, 400);
    t.is(answer.body.code, "INVALID_REQUEST");
  }
  const body = { ...person, confirmedAge: 18 };
  t.is((await visitor.call("POST", "/api/account/sign-up", { body })).status, 201);
  t.is((await visitor.call("GET", "/api/account")).body.ageToConfirm, null);
});

test.serial(
  "LIMITS_SETUP_REQUIRED: a user from before confirms it once, then trades",
  async (t) => {
    const marketId = await makeMarket();
    const { visitor } = await makeMember(service);
    await visitor.call("PUT", "/api/account/limits", { body: noLimits });
    const { key } = (await visitor.call("POST", "/api/account/keys", { body: { name: "bot" } }))
      .body;
    const order = { marketId, side: "yes", price: 40, quantity: 5 };
    const place = () => call("POST", "/api/v1/orders", { key, body: order });
    const resting = await place();
    t.is(resting.status, 201);

    await setAge(18);
    const rejected = await place();
    t.is(rejected.status, 428);
    t.is(rejected.body.code, "LIMITS_SETUP_REQUIRED");
    const preview = await call("POST", "/api/v1/orders/preview", { key, body: order });
    t.is(preview.body.rejection.code, "LIMITS_SETUP_REQUIRED");
    t.is((await visitor.call("POST", "/api/v1/orders", { body: order })).status, 428);
    const { id } = resting.body.order;
    t.is((await call("DELETE", `/api/v1/orders/${id}`, { key })).status, 200);

    t.is((await visitor.call("GET", "/api/account")).body.ageToConfirm, 18);
    const confirm = (confirmedAge: number) =>
      visitor.call("POST", "/api/account/age", { body: { confirmedAge } });
    const early = await confirm(17);
    t.deepEqual([early.status, early.body.code], [400, "AGE_NOT_CONFIRMED"]);
    // A program does not say it for its user.
    const byKey = await call("POST", "/api/account/age", { key, body: { confirmedAge: 18 } });
    t.is(byKey.status, 401);
    t.is((await place()).status, 428);

    const confirmed = await confirm(18);
    t.is(confirmed.status, 200);
    t.is(confirmed.body.ageToConfirm, null);
    t.deepEqual(confirmed.body, (await visitor.call("GET", "/api/account")).body);
    t.is((await place()).status, 201);
    t.is((await confirm(18)).status, 200, "once more changes nothing");
  },
);
