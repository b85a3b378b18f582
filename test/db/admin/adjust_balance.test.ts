import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** admin.adjust_balance: cash is put right, up or down, never below what is available. */

const exchange = testExchange(test);
const { balance, makeMarketWith, makeTrader, operate, place, refusal, rest } = exchange;

const adjust = (user_id: string, cents: unknown, reference: unknown, reason: unknown = "wrong") =>
  operate("adjust_balance", { user_id, amount_cents: cents, reference, reason });

test("adds and takes, and returns the new balance", async (t) => {
  const ann = await makeTrader({ cents: 1000 });
  t.is(await adjust(ann, 250, "one"), 1250);
  t.is(await adjust(ann, -1000, "two"), 250);
  t.is(await adjust(ann, -250, "three"), 0);
  t.is(await balance(ann), 0);
});

test("the same reference is the same movement, whatever is there by then", async (t) => {
  const ann = await makeTrader({ cents: 500 });
  t.is(await adjust(ann, -500, "one"), 0);
  t.is(await adjust(ann, -500, "one"), 0);
  t.is(await adjust(ann, -500, "one", "another reason"), 0);
  for (const cents of [500, -499]) {
    await t.throwsAsync(adjust(ann, cents, "one"), {
      code: "EX018",
      message: "The reference 'one' is already used for an adjustment of -500 cents",
    });
  }
  t.is(await operate("deposit", { user_id: ann, amount_cents: 7, reference: "one" }), 7);
});

test("INSUFFICIENT_BALANCE: more than is available is not taken, and the reference is free", async (t) => {
  const ann = await makeTrader({ cents: 500 });
  await t.throwsAsync(adjust(ann, -501, "one"), { code: "EX011" });
  t.is(await balance(ann), 500);
  t.is(await adjust(ann, -500, "one"), 0);
});

test("INSUFFICIENT_BALANCE: from a user below zero nothing is taken; what is added covers the debt", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2, { cents: 10_000 });
  await rest(market, ann, buy("yes", 10, 50));
  await place(market, bob, buy("no", 10, 50));
  await operate("resolve_market", { market_id: market, outcome: "yes" });
  await operate("withdraw", { user_id: ann, amount_cents: 10_500, reference: "all" });
  await operate("correct_resolution", { market_id: market, outcome: "no", reason: "wrong" });
  await t.throwsAsync(adjust(ann, -1, "down"), { code: "EX011" });
  t.is(await adjust(ann, 1, "up"), -999);
  t.is(await adjust(ann, 1000, "more"), 1);
});

test("INVALID_REQUEST: 0, amounts and texts out of bounds, no reason", async (t) => {
  const ann = await makeTrader({ cents: 500 });
  const most = 1_000_000_000_000_000n;
  const least = "-9223372036854775808";
  for (const cents of [0, null, String(most + 1n), String(-most - 1n), least]) {
    await t.throwsAsync(adjust(ann, cents, "one"), { code: "EX001", message: /^The amount must/ });
  }
  for (const reference of [null, "", " ", "x".repeat(201)]) {
    await t.throwsAsync(adjust(ann, 5, reference), { code: "EX001", message: /^A reference/ });
  }
  for (const reason of [null, "", "\n ", "x".repeat(1001)]) {
    await t.throwsAsync(adjust(ann, 5, "one", reason), { code: "EX001", message: /^A reason/ });
  }
  t.is(await balance(ann), 500);
});

test("NOT_FOUND: an unknown user", async (t) => {
  await t.throwsAsync(adjust("01900000-0000-7000-8000-000000000000", 5, "one"), { code: "EX017" });
});

test("a frozen account is adjusted in both directions", async (t) => {
  const ann = await makeTrader({ cents: 500 });
  await operate("freeze_user", { user_id: ann, reason: "a test" });
  t.is(await adjust(ann, 100, "up"), 600);
  t.is(await adjust(ann, -600, "down"), 0);
});

test("an adjustment neither hides a loss from the loss limit nor makes one", async (t) => {
  const [market, maker] = await makeMarketWith(1);
  await rest(market, maker, buy("no", 30, 50));
  // 10 at 50 cost 500 and a fee of 17.5, rounded up.
  const ann = await makeTrader({ cents: 1000, limits: [518, null, null] });
  await place(market, ann, buy("yes", 10, 50));
  await adjust(ann, 5000, "up");
  t.is(await refusal(market, ann, buy("yes", 1, 1)), "LOSS_LIMIT");
  const bob = await makeTrader({ cents: 10_000, limits: [518, null, null] });
  await adjust(bob, -9000, "down");
  t.is((await place(market, bob, buy("yes", 10, 50))).order.status, "filled");
});

test("operators see the kind, the reference and the reason; analysts only the kind", async (t) => {
  const ann = await makeTrader({ cents: 500 });
  await adjust(ann, -200, "ticket 7", "paid twice");
  const rowsAs = async (role: "exchange_operator" | "exchange_analyst", schema: string) => {
    const { rows } = await exchange.database
      .connectAs(role, { max: 1 })
      .query(`select * from ${schema}.cash_movements where user_id = $1 and kind = 'adjustment'`, [
        ann,
      ]);
    return rows;
  };
  const [seen] = await rowsAs("exchange_operator", "admin");
  t.like(seen, { amount_cents: -200, reference: "ticket 7", reason: "paid twice" });
  const [shown] = await rowsAs("exchange_analyst", "analytics");
  t.like(shown, { amount_cents: -200, kind: "adjustment" });
  t.false("reference" in shown || "reason" in shown);
});
