import { randomUUID } from "node:crypto";
import test from "ava";
import { failure, pairsOf } from "../../helpers/exchange/contention.ts";
import { buy, sell } from "../../helpers/exchange/orders.ts";
import { someHash } from "../../helpers/exchange/staff.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** admin.erase_user: when it is refused, and what happens beside it at the same moment. */

const exchange = testExchange(test, { sessions: 20 });
const { dump, makeMarket, makeMarketWith, makeTrader, operate, place, query, refusal, rest } =
  exchange;
const pair = pairsOf(test, exchange, 15);

const INVALID_STATE = "EX019";
const erase = (user_id: string) => operate("erase_user", { user_id, reason: "asked for it" });
const erasure = (user_id: string) => failure(erase(user_id));
const userOf = async (id: string) =>
  (await query("select * from admin.users where user_id = $1", [id]))[0];

async function refused(t: any, user: string, message: RegExp): Promise<void> {
  const before = await dump();
  await t.throwsAsync(erase(user), { code: INVALID_STATE, message });
  t.deepEqual(await dump(), before, "nothing changed");
}

test.serial("INVALID_STATE: with cash, an order or shares; not once all is paid", async (t) => {
  const [market, ann] = await makeMarketWith(1, { cents: 100 });
  await refused(t, ann, /still has 100 cents/);
  await exchange.giveShares(market, await makeTrader(), "no", 1);
  const [order] = await rest(market, ann, buy("yes", 2, 50));
  await exchange.cancel(ann, order);
  await place(market, await makeTrader(), buy("no", 2, 50));
  await place(market, ann, buy("yes", 1, 50));
  await operate("withdraw", { user_id: ann, amount_cents: await cash(ann), reference: "out" });
  await refused(t, ann, /has shares in a market that is not settled/);
  const [asked] = await rest(market, ann, sell("yes", 1, 99));
  await refused(t, ann, /has open orders/);
  await exchange.cancel(ann, asked);
  await operate("set_market_status", { market_id: market, status: "closed" });
  await refused(t, ann, /has shares/);
  await operate("resolve_market", { market_id: market, outcome: "no" });
  t.is(await erasure(ann), null);
});

test.serial("INVALID_STATE: with a receivable; it can be paid off, and no more", async (t) => {
  const user = await makeTrader({ cents: 0 });
  const amount = { user_id: user, amount_cents: 500 };
  await operate("deposit", { ...amount, reference: "in" });
  await operate("withdraw", { ...amount, reference: "out" });
  await operate("reverse_deposit", { reference: "in", reason: "charged back" });
  await refused(t, user, /owes 500 cents/);
  await operate("adjust_balance", { ...amount, reference: "written off", reason: "too small" });
  t.is(await erasure(user), null);
});

test.serial(
  "what a later correction brings can be withdrawn, and nothing else comes in",
  async (t) => {
    const market = await makeMarket();
    const user = await makeTrader({ cents: 100 });
    await exchange.giveShares(market, await makeTrader(), "no", 1);
    await rest(market, await makeTrader(), buy("no", 1, 50));
    await place(market, user, buy("yes", 1, 50));
    await operate("withdraw", { user_id: user, amount_cents: await cash(user), reference: "out" });
    await operate("resolve_market", { market_id: market, outcome: "no" });
    t.is(await erasure(user), null);

    await operate("correct_resolution", {
      market_id: market,
      outcome: "yes",
      reason: "it was yes",
    });
    const deposit = { user_id: user, amount_cents: 1, reference: "in" };
    await t.throwsAsync(operate("deposit", deposit), { code: INVALID_STATE });
    const withdrawal = { user_id: user, amount_cents: 101, reference: "later" };
    await t.throwsAsync(operate("withdraw", withdrawal), { code: "EX011" });
    t.is(await operate("withdraw", { ...withdrawal, amount_cents: 100 }), 0);
  },
);

test.serial("INVALID_STATE: with the address of a member of staff", async (t) => {
  const user = await makeTrader({ cents: 0 });
  const { email } = await userOf(user);
  const staff_id = await operate("create_staff", {
    ...{ email: email.toUpperCase(), name: "Zoe", roles: ["cash"] },
  });
  await refused(t, user, /member of staff/);
  await operate("remove_staff", { staff_id });
  t.is(await erasure(user), null);
});

test.serial("a reason is required, and the user must be there", async (t) => {
  const user_id = await makeTrader({ cents: 0 });
  await t.throwsAsync(operate("erase_user", { user_id, reason: " " }), { code: "EX001" });
  t.is(await erasure(randomUUID()), "EX017");
});

test.serial("twice is once; afterwards nothing brings the account back", async (t) => {
  const user_id = await makeTrader({ cents: 0 });
  const before = await userOf(user_id);
  await operate("self_exclude", { user_id, until: "infinity" });
  await erase(user_id);
  const user = await userOf(user_id);
  t.is(user.email, `${user_id}@unconfirmed.invalid`);
  t.regex(user.handle, /^erased-[0-9a-f]{16}$/);
  t.is(user.display_name, "Erased user");
  t.true(user.is_private && user.leaderboard_opt_out);
  t.is(user.frozen_reason, "erased");
  t.is(user.excluded_until, Infinity);
  await erase(user_id);
  t.deepEqual({ ...(await userOf(user_id)), at: 0 }, { ...user, at: 0 });
  const erased = await query(
    "select arguments -> 'erased' as erased from admin.audit_entries where user_id = $1 and action = 'erase_user' order by audit_key",
    [user_id],
  );
  t.deepEqual(erased, [{ erased: true }, { erased: false }]);
  const calls: [name: string, values: object][] = [
    ["add_note", { note: "back" }],
    ["create_api_key", { name: "back" }],
    ["create_session", {}],
    ["freeze_user", { reason: "back" }],
    ["recover_account", { email: before.email }],
    ["set_profile", { display_name: "Back" }],
    ["sign_in_link", {}],
    ["unfreeze_user", { reason: "back" }],
    ["deposit", { amount_cents: 1, reference: "back" }],
    ["adjust_balance", { amount_cents: 1, reference: "back", reason: "back" }],
  ];
  for (const [name, values] of calls) {
    t.is(await failure(operate(name, { user_id, ...values })), INVALID_STATE, name);
  }
  const bonus = { name: "back", users: JSON.stringify([{ user_id, amount_cents: 5 }]) };
  t.is(await failure(operate("give_bonus", bonus)), INVALID_STATE);
  t.is(await refusal(await makeMarket(), user_id, buy("yes", 1, 50)), "SELF_EXCLUDED");
});

const cash = async (user: string): Promise<number> => Number((await userOf(user)).balance_cents);

pair(
  "a user is erased beside a deposit: with the money there is no erasure",
  ["erased first", "paid first"],
  async (contention, t) => {
    const user_id = await makeTrader({ cents: 0 });
    const values = { user_id, amount_cents: 700, reference: "beside" };
    const [erased, paid] = await contention.together([
      () => contention.insist(() => erasure(user_id)),
      () => contention.insist(() => failure(operate("deposit", values))),
    ] as const);
    const isErased = (await userOf(user_id)).erased_at !== null;
    t.is(await cash(user_id), isErased ? 0 : 700);
    t.deepEqual([erased, paid], isErased ? [null, INVALID_STATE] : [INVALID_STATE, null]);
    return isErased ? "erased first" : "paid first";
  },
);

pair(
  "a user is erased beside a deposit and the order that it pays: all of it or nothing",
  ["erased first", "placed first"],
  async (contention, t) => {
    const [market, user] = await makeMarketWith(1, { cents: 0 });
    const deposit = { user_id: user, amount_cents: 100, reference: "beside" };
    const [erased, placed] = await contention.together([
      () => contention.insist(() => erasure(user)),
      async () => {
        await contention.insist(() => failure(operate("deposit", deposit)));
        return contention.place(market, user, buy("yes", 1, 50));
      },
    ] as const);
    const open = await query(
      `select from trading.active_orders as o
       join trading.traders as r on r.user_id = o.user_id where r.public_id = $1`,
      [user],
    );
    const isErased = (await userOf(user)).erased_at !== null;
    t.is(erased === null, isErased);
    t.is(open.length, isErased ? 0 : 1);
    t.is(await cash(user), isErased ? 0 : 100);
    t.is(placed.code, isErased ? "ACCOUNT_FROZEN" : null);
    return isErased ? "erased first" : "placed first";
  },
);

pair(
  "a user is erased beside a sign-in: no session is left",
  ["erased first", "signed in first"],
  async (contention, t) => {
    const user = await makeTrader({ cents: 0 });
    const { email } = await userOf(user);
    const passwordHash = someHash(email);
    await query(
      "insert into identity.passwords select id, $2 from identity.users where public_id = $1",
      [user, passwordHash],
    );
    const signIn = () =>
      exchange.calls.signIn({
        email,
        passwordHash,
        isHostOnly: false,
        address: "192.0.2.7",
        browser: "Seen",
      });
    const [, signedIn] = await contention.together([() => erase(user), signIn] as const);
    const left = await query(
      `select from identity.users as u
       where u.public_id = $1
         and (
           exists (select from identity.sessions as s where s.user_id = u.id)
           or exists (select from identity.mails as m where m.user_id = u.id)
         )`,
      [user],
    );
    t.is(left.length, 0);
    return signedIn.cookie === null ? "erased first" : "signed in first";
  },
);
