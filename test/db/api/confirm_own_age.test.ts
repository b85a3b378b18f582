import test from "ava";
import { withClient } from "../../helpers/database/test_database.ts";
import { buy, codesOf, placeOrders, sell } from "../../helpers/exchange/orders.ts";
import { ownSession } from "../../helpers/exchange/own_session.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** The minimum age: who confirmed it, and who may not sign up or trade without. */

const exchange = testExchange(test);
const {
  clock,
  giveShares,
  makeMarket,
  makeMarketWith,
  makeTrader,
  operate,
  place,
  placeBatch,
  query,
  refusal,
  rest,
} = exchange;

const setAge = (years: number | null, reason: string | null = "a test") =>
  operate("set_minimum_age", { years, reason });

/** Confirms an age in a session, and returns the account. */
async function confirm(userId: string, confirmedAge: number): Promise<any> {
  const sessionId = await ownSession(exchange, userId);
  const given = { userId, sessionId, confirmedAge };
  return await exchange.calls.confirmOwnAge(given);
}

const ageToConfirm = async (userId: string): Promise<number | null> => {
  const own = await exchange.calls.getOwnProfile({ userId });
  return JSON.parse(own).ageToConfirm;
};
const confirmed = async (userId: string) =>
  await query(
    "select confirmed_age as age, age_confirmed_at as at from admin.users where user_id = $1",
    [userId],
  );

let made = 0;
async function signUp(confirmedAge?: number): Promise<string> {
  made += 1;
  const [row] = await query(
    `select user_id from api.sign_up(
       email => $1, password_hash => '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g',
       confirmed_age => $2
     )`,
    [`aged-${made}@test.example`, confirmedAge],
  );
  return row.user_id;
}

test.before("anybody may sign up", () => operate("set_sign_up", { policy: "open" }));

test.afterEach.always("no minimum age, and the clock runs", async () => {
  await setAge(0);
  await clock.release();
});

test.serial("without a minimum age nobody is asked, and nothing is kept", async (t) => {
  for (const given of [undefined, 17, 18]) {
    const ann = await signUp(given);
    t.is(await ageToConfirm(ann), null);
    await confirm(ann, 99);
    t.deepEqual(await confirmed(ann), [{ age: null, at: null }]);
  }
});

test.serial("AGE_NOT_CONFIRMED: a sign-up below the minimum age, or without one", async (t) => {
  await setAge(18);
  const count = async () => (await query("select count(*)::int from identity.users"))[0].count;
  const before = await count();
  for (const given of [undefined, 1, 17]) {
    await t.throwsAsync(signUp(given), {
      code: "EX050",
      message: "Confirm that you are 18 or older",
    });
  }
  t.is(await count(), before);
  await clock.freeze("2040-01-01T10:00:00Z");
  for (const given of [18, 99]) {
    const ann = await signUp(given);
    // What was asked, and no more.
    t.deepEqual(await confirmed(ann), [{ age: 18, at: new Date("2040-01-01T10:00:00Z") }]);
    t.is(await ageToConfirm(ann), null);
  }
});

test.serial("AGE_NOT_CONFIRMED: who signed up before confirms it once", async (t) => {
  const ann = await signUp();
  await setAge(18);
  t.is(await ageToConfirm(ann), 18);
  await t.throwsAsync(confirm(ann, 17), { code: "EX050" });
  t.is(await ageToConfirm(ann), 18);
  await clock.freeze("2040-01-01T10:00:00Z");
  await confirm(ann, 18);
  await clock.advance(1000);
  await confirm(ann, 18);
  const first = [{ age: 18, at: new Date("2040-01-01T10:00:00Z") }];
  t.deepEqual(await confirmed(ann), first);
  // Neither a lower age nor none asks again.
  for (const years of [16, 0]) {
    await setAge(years);
    t.is(await ageToConfirm(ann), null);
    await confirm(ann, 99);
    t.deepEqual(await confirmed(ann), first);
  }
  await setAge(21);
  t.is(await ageToConfirm(ann), 21);
  await confirm(ann, 21);
  t.deepEqual(await confirmed(ann), [{ age: 21, at: new Date("2040-01-01T10:00:01Z") }]);
});

test.serial("LIMITS_SETUP_REQUIRED: every way into a position waits for the age", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  await giveShares(market, ann, "yes", 20);
  await exchange.split(market, ann, 1);
  const first = buy("yes", 10, 40);
  const [resting, other] = await rest(market, ann, first, buy("yes", 10, 30));
  const requests = [
    buy("yes", 1, 20),
    buy("yes", 5000, 20),
    buy("no", 1, 61),
    sell("yes", 5, 90),
    buy("yes", 5, 10, { timeInForce: "fok" }),
  ];
  await setAge(18);
  for (const request of requests) {
    t.is(await refusal(market, ann, request), "LIMITS_SETUP_REQUIRED");
    // By the way of a lone order as well.
    const [alone] = await withClient(exchange.api, (client) =>
      placeOrders(client, [{ userId: ann, marketId: market, ...request }]),
    );
    t.is(alone!.code, "LIMITS_SETUP_REQUIRED");
  }
  t.is((await exchange.amend(ann, resting, { price: 41 })).code, "LIMITS_SETUP_REQUIRED");
  t.is((await exchange.split(market, ann, 1)).code, "LIMITS_SETUP_REQUIRED");

  // What rests may match, also with who has confirmed it, and what ends a risk works.
  await confirm(bob, 18);
  t.is((await place(market, bob, buy("no", 10, 60))).fills.length, 1);
  t.is((await exchange.cancel(ann, other)).code, null);
  t.is((await exchange.merge(market, ann, 1)).code, null);

  await confirm(ann, 18);
  const outcomes = await placeBatch(market, [
    [ann, buy("yes", 1, 20)],
    [ann, sell("yes", 5, 90)],
  ]);
  t.deepEqual(codesOf(outcomes), [null, null]);
  t.is((await exchange.split(market, ann, 1)).code, null);
});

test.serial("SELF_EXCLUDED before the age, and MARKET_NOT_FOUND after it", async (t) => {
  const [market, ann] = [await makeMarket(), await makeTrader()];
  await setAge(18);
  t.is(
    await refusal("01900000-0000-7000-8000-000000000000", ann, buy("yes", 1, 50)),
    "LIMITS_SETUP_REQUIRED",
  );
  await operate("self_exclude", { user_id: ann });
  t.is(await refusal(market, ann, buy("yes", 1, 50)), "SELF_EXCLUDED");
});

test.serial("an export has it, and analysts see it without the name", async (t) => {
  await setAge(18);
  await clock.freeze("2040-01-01T10:00:00Z");
  const user_id = await signUp(18);
  const exported: any = await operate("export_user", { user_id });
  t.is(exported.user.confirmed_age, 18);
  t.is(Date.parse(exported.user.age_confirmed_at), Date.parse("2040-01-01T10:00:00Z"));
  const [seen] = await query(
    "select confirmed_age, age_confirmed_at from analytics.users where user_id = $1",
    [user_id],
  );
  t.deepEqual(seen, { confirmed_age: 18, age_confirmed_at: new Date("2040-01-01T10:00:00Z") });
  // That it was confirmed stays when who it was is gone.
  await operate("erase_user", { user_id, reason: "asked for" });
  t.deepEqual(await confirmed(user_id), [{ age: 18, at: new Date("2040-01-01T10:00:00Z") }]);
});

test.serial("INVALID_REQUEST: an age that is none, or without a reason", async (t) => {
  for (const years of [-1, 100, null]) await t.throwsAsync(setAge(years), { code: "EX001" });
  for (const reason of [null, " "]) await t.throwsAsync(setAge(18, reason), { code: "EX001" });
  t.deepEqual(await query("select years from admin.minimum_age"), [{ years: 0 }]);
  for (const years of [1, 99]) {
    await setAge(years);
    t.deepEqual(await query("select years from admin.minimum_age"), [{ years }]);
  }
});
