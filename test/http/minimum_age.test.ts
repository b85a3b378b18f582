import test from "ava";
import { testService } from "../helpers/http/test_service.ts";
import { anybody, makeMember, makeVisitor } from "../helpers/http/visitor.ts";

/** The minimum age of an exchange: at sign-up, and for users from before. */

const service = testService(test, { playMoneyCents: 100_000 });
const { call, makeMarket, operate } = service;

const setAge = (years: number) => operate("set_minimum_age", { years, reason: "a test" });
const noLimits = { dayCents: null, weekCents: null, monthCents: null };

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
