import { randomUUID } from "node:crypto";
import test from "ava";
import type { Pool } from "pg";
import { failure, pairsOf } from "../../helpers/exchange/contention.ts";
import { callBy, makeStaff } from "../../helpers/exchange/staff.ts";
import type { StaffMember } from "../../helpers/exchange/staff.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** admin.set_cash_cap: how much cash one member of staff may move by a call and in a day. */

const exchange = testExchange(test, { sessions: 20 });
const { balance, clock, makeTrader, operate } = exchange;

const NOON = "2040-01-01T12:00:00.000Z";
const over = (message: RegExp) => ({ code: "EX019", message });
const perCall = over(/One call may move at most/);
const perDay = over(/The cap of the day/);

let operators: Pool;
/** Made before there is a cap, which would hold for the test too. */
let rich: string;
let made = 0;
const reference = () => `reference ${(made += 1)}`;

test.serial.before("connect", async () => {
  operators = exchange.database.connectAs("exchange_operator", { max: 20 });
  rich = await makeTrader({ cents: 1_000_000 });
});
test.serial.beforeEach(async () => {
  await clock.freeze(NOON);
  for (const kind of ["deposit", "withdrawal", "bonus", "adjustment", "reversal", "fee_payout"]) {
    await cap(kind, null, null);
  }
});

const cap = (kind: string, per_call_cents: number | null, per_day_cents: number | null) =>
  operate("set_cash_cap", { kind, per_call_cents, per_day_cents });
const by = (member: StaffMember, name: string, values: object): Promise<any> =>
  callBy(operators, member.cookieHash, name, { ...values });
const cashier = () => makeStaff(exchange, ["cash"]);
const move = async (member: StaffMember, name: string, amount_cents: number, user_id?: string) =>
  by(member, name, {
    ...{ user_id: user_id ?? rich, amount_cents },
    reference: reference(),
  });

test.serial("a cap of a call and of a day holds to the cent, for each member alone", async (t) => {
  await clock.freeze("2040-01-01T23:00:00Z"); // a session lasts 12 hours
  const [ann, ben] = [await cashier(), await cashier()];
  await cap("deposit", 600, 1000);
  await t.throwsAsync(move(ann, "deposit", 601), perCall);
  await move(ann, "deposit", 600);
  await t.throwsAsync(move(ann, "deposit", 401), perDay);
  await move(ann, "deposit", 400);
  await t.throwsAsync(move(ann, "deposit", 1), perDay);
  await move(ben, "deposit", 600);
  await move(ann, "withdraw", 5000); // of another kind
  await clock.advance(3_599_999);
  await t.throwsAsync(move(ann, "deposit", 1), perDay);
  await clock.advance(1); // the next day in UTC
  await move(ann, "deposit", 600);
  await cap("deposit", null, null);
  await move(ann, "deposit", 1_000_000);
});

test.serial("a clock that is set back over midnight takes nothing off the sum", async (t) => {
  const [before, after] = ["2040-01-01T23:30:00Z", "2040-01-02T00:30:00Z"];
  await clock.freeze(before);
  const ann = await cashier();
  await cap("deposit", null, 1000);
  await move(ann, "deposit", 300);
  await clock.freeze(after);
  await move(ann, "deposit", 600);
  await clock.freeze(before);
  await t.throwsAsync(move(ann, "deposit", 101), perDay);
  await move(ann, "deposit", 100);
  // The day before does not count on the next, however often the clock is set.
  await clock.freeze(after);
  await t.throwsAsync(move(ann, "deposit", 401), perDay);
  await move(ann, "deposit", 400);
  await clock.freeze(before);
  await t.throwsAsync(move(ann, "deposit", 1), perDay);
});

test.serial("what was moved before the cap was set counts for the day", async (t) => {
  const ann = await cashier();
  await move(ann, "withdraw", 900);
  await cap("withdrawal", null, 1000);
  await t.throwsAsync(move(ann, "withdraw", 101), perDay);
  await move(ann, "withdraw", 100);
});

test.serial(
  "a reference that is a movement already moves nothing, and counts nothing",
  async (t) => {
    const ann = await cashier();
    await cap("deposit", 500, 500);
    const user_id = await makeTrader({ cents: 0 });
    const values = { user_id, amount_cents: 500, reference: reference() };
    await by(ann, "deposit", values);
    t.is(await by(ann, "deposit", values), 500);
    t.is(await balance(user_id), 500);
    // A call that fails counts nothing, too.
    const ben = await cashier();
    await t.throwsAsync(move(ben, "withdraw", 1, randomUUID()), undefined);
    await cap("withdrawal", null, 500);
    await t.throwsAsync(move(ben, "withdraw", 501, user_id), perDay);
    await move(ben, "withdraw", 500, user_id);
  },
);

test.serial("bonuses, adjustments, reversals and payouts of fees have caps as well", async (t) => {
  const ann = await cashier();
  const [dora, emil] = [await makeTrader({ cents: 0 }), await makeTrader({ cents: 0 })];
  await cap("bonus", 300, 400);
  const bonus = (name: string, ...users: [string, number][]) =>
    by(ann, "give_bonus", {
      name,
      users: JSON.stringify(users.map(([user_id, amount_cents]) => ({ user_id, amount_cents }))),
    });
  await t.throwsAsync(bonus("one", [dora, 150], [emil, 151]), perCall);
  t.is(await bonus("one", [dora, 150]), 1);
  // Who has it already counts no more: 150 of 400 are used, and 150 come now.
  t.is(await bonus("one", [dora, 150], [emil, 150]), 1);
  await t.throwsAsync(bonus("two", [dora, 101]), perDay);
  t.deepEqual([await balance(dora), await balance(emil)], [150, 150]);

  await cap("adjustment", 100, 150);
  const adjust = (amount_cents: number) =>
    by(ann, "adjust_balance", {
      ...{ user_id: dora, amount_cents, reference: reference(), reason: "a slip" },
    });
  await t.throwsAsync(adjust(-101), perCall);
  await adjust(-100);
  await t.throwsAsync(adjust(51), perDay); // it does not take away what was counted
  await adjust(50);

  await cap("reversal", 200, null);
  for (const [cents, isOver] of [
    [201, true],
    [200, false],
  ] as const) {
    const deposit = { user_id: emil, amount_cents: cents, reference: reference() };
    await operate("deposit", deposit);
    const reverse = () =>
      by(ann, "reverse_deposit", { reference: deposit.reference, reason: "bounced" });
    if (isOver) await t.throwsAsync(reverse(), perCall);
    else await reverse();
  }
  await cap("fee_payout", 0, null);
  await t.throwsAsync(by(ann, "pay_out_fees", { amount_cents: 1, reference: "fees" }), perCall);
});

test.serial(
  "a proposal counts for who proposed it, and an approval is not above a cap",
  async (t) => {
    const [ann, ben] = [await cashier(), await cashier()];
    await operate("set_approval_rule", { command: "deposit", role: "cash", from_cents: 500 });
    await cap("deposit", null, 1000);
    const user_id = await makeTrader({ cents: 0 });
    const propose = (amount_cents: number) =>
      by(ann, "propose", {
        ...{ command: "deposit", reason: "asked for" },
        arguments: JSON.stringify({ user_id, amount_cents, reference: reference() }),
      });
    await t.throwsAsync(propose(1001), perDay);
    const [first, second] = [await propose(600), await propose(600)];
    await move(ann, "deposit", 400); // what is only proposed does not count yet
    await by(ben, "approve", { proposal_id: first });
    await t.throwsAsync(by(ben, "approve", { proposal_id: second }), perDay);
    await t.throwsAsync(move(ann, "deposit", 1), perDay);
    await move(ben, "deposit", 499); // who approved has moved nothing
    t.is(await balance(user_id), 600);
    await operate("remove_approval_rule", { command: "deposit" });
  },
);

test.serial("a login without a member of staff has its cap", async (t) => {
  await cap("deposit", null, 100);
  const user_id = await makeTrader({ cents: 0 });
  const deposit = (amount_cents: number) =>
    operators.query("select admin.deposit($1, $2, $3)", [user_id, amount_cents, reference()]);
  await clock.advance(10 * 86_400_000);
  await deposit(100);
  await t.throwsAsync(deposit(1), perDay);
});

test.serial("INVALID_REQUEST: an unknown kind, or a cap below zero", async (t) => {
  const invalid = { code: "EX001" };
  await t.throwsAsync(cap("trade", 1, 1), invalid);
  await t.throwsAsync(cap("gift", 1, 1), invalid);
  await t.throwsAsync(cap("deposit", -1, null), invalid);
  await t.throwsAsync(cap("deposit", null, -1), invalid);
  const { rows } = await operators.query("select * from admin.cash_caps where kind = 'deposit'");
  t.deepEqual(rows, [{ kind: "deposit", per_call_cents: null, per_day_cents: null }]);
});

const pair = pairsOf(test, exchange, 10);

pair.serial(
  "two deposits at once of one member never pass the cap of the day together",
  ["the first", "the second"],
  async (contention, t) => {
    const ann = await cashier();
    await cap("deposit", null, 1000);
    const [one, two] = [await makeTrader({ cents: 0 }), await makeTrader({ cents: 0 })];
    const done = await contention.together([
      () => failure(move(ann, "deposit", 600, one)),
      () => failure(move(ann, "deposit", 600, two)),
    ] as const);
    t.deepEqual([...done].sort(), ["EX019", null]);
    t.is((await balance(one)) + (await balance(two)), 600);
    return done[0] === null ? "the first" : "the second";
  },
);

pair.serial(
  "a cap that is set during a deposit holds for what comes after it",
  ["before", "after"],
  async (contention, t) => {
    const ann = await cashier();
    await cap("deposit", null, null);
    const [, done] = await contention.together([
      () => cap("deposit", null, 100),
      () => failure(move(ann, "deposit", 101)),
    ] as const);
    t.is(await failure(move(ann, "deposit", 101)), "EX019");
    return done === null ? "before" : "after";
  },
);

test.serial(
  "play money is a bonus: it needs the role cash, and the cap of one holds",
  async (t) => {
    const signUp = (member: StaffMember, play_money_cents: number) =>
      by(member, "set_sign_up", { policy: "closed", play_money_cents });
    const [guard, both] = [
      await makeStaff(exchange, ["users"]),
      await makeStaff(exchange, ["cash", "users"]),
    ];
    await t.throwsAsync(signUp(guard, 1), { code: "EX042" });
    await t.notThrowsAsync(signUp(guard, 0));
    await t.throwsAsync(signUp(await cashier(), 0), { code: "EX042" });
    await cap("bonus", 500, null);
    await t.throwsAsync(signUp(both, 501), perCall);
    await t.notThrowsAsync(signUp(both, 500));
    await operate("set_approval_rule", { command: "set_sign_up", role: "cash" });
    await t.throwsAsync(signUp(both, 1), { code: "EX043" });
    await operate("remove_approval_rule", { command: "set_sign_up" });
  },
);
