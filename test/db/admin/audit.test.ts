import test from "ava";
import { makeDispute } from "../../helpers/exchange/disputes.ts";
import { makeStaff, makeStaffPasskey } from "../../helpers/exchange/staff.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** Every call of an operator leaves one row that says who, when, what and with which arguments. */

const exchange = testExchange(test);
const { makeMarket, makeTrader, operate } = exchange;

/** For every function: arguments to call it with, some of them made for it. */
const calls: Record<string, () => Promise<Record<string, unknown>>> = {
  create_category: async () => ({ slug: "audited", name: "Audited", position: 7 }),
  create_event: async () => ({ title: "Election", category: "tests", live: true }),
  edit_event: async () => ({
    event_id: await operate("create_event", { title: "Match", category: "tests" }),
    title: "Final",
    description: "The last match.",
  }),
  set_event_live: async () => ({
    event_id: await operate("create_event", { title: "Match", category: "tests" }),
    live: true,
    live_delay_ms: 1000,
  }),
  create_market: async () => ({ title: "Will it rain?", category: "tests" }),
  copy_market: async () => ({ market_id: await makeMarket(), title: "Will it rain again?" }),
  // Each market that is made has a row of its own: create_markets.test.ts.
  create_markets: async () => ({
    markets: JSON.stringify([{ title: "Will it rain?", category: "tests" }]),
    dry_run: true,
  }),
  edit_market: async () => ({
    market_id: await makeMarket(),
    title: "Will it snow?",
    close_time: "2090-01-01T00:00:00Z",
  }),
  set_market_status: async () => ({ market_id: await makeMarket(), status: "paused" }),
  set_market_source: async () => ({
    market_id: await makeMarket(),
    rules: "As the office says.",
    source_url: "https://office.example/",
  }),
  preview_resolution: async () => ({ market_id: await makeMarket(), outcome: "yes" }),
  resolve_market: async () => ({
    market_id: await makeMarket(),
    outcome: "custom",
    yes_payout_cents: 40,
  }),
  correct_resolution: async () => {
    const market_id = await makeMarket();
    await operate("resolve_market", { market_id, outcome: "yes" });
    return { market_id, outcome: "no", reason: "a mistake" };
  },
  create_user: async () => ({ email: "eve@test.example", display_name: "Eve", handle: "eve" }),
  set_profile: async () => ({ user_id: await makeTrader(), private: true }),
  create_api_key: async () => ({ user_id: await makeTrader(), name: "key" }),
  list_api_keys: async () => ({ user_id: await makeTrader() }),
  rotate_api_key: async () => ({ key_id: await makeKey(), overlap: "01:00:00" }),
  revoke_api_key: async () => ({ key_id: await makeKey() }),
  create_staff_key: async () => ({ name: "Ada", role: "analyst" }),
  list_staff_keys: async () => ({}),
  revoke_staff_key: async () => ({ key_id: await makeStaffKey() }),
  create_staff: async () => ({ email: "zoe@staff.example", name: "Zoe", roles: ["cash"] }),
  invite_staff: async () => ({ staff_id: await makeStaffMember() }),
  set_staff_roles: async () => ({ staff_id: await makeStaffMember(), roles: ["audit", "users"] }),
  remove_staff: async () => ({ staff_id: await makeStaffMember() }),
  remove_staff_passkey: () => makeStaffPasskey(exchange),
  set_approval_rule: async () => {
    await makeStaff(exchange, ["cash"]);
    await makeStaff(exchange, ["cash"]);
    return { command: "pay_out_fees", role: "cash", from_cents: 1000 };
  },
  remove_approval_rule: async () => ({ command: "pay_out_fees" }),
  create_session: async () => ({ user_id: await makeTrader() }),
  end_sessions: async () => ({ user_id: await makeTrader() }),
  set_sign_up: async () => ({ policy: "open", play_money_cents: 100 }),
  invite_user: async () => ({ email: "guest@test.example" }),
  sign_in_link: async () => ({ user_id: await makeTrader() }),
  set_rate_limit: async () => ({ bucket: "v1", max_requests: 7, window_seconds: 8 }),
  set_rate_policy: async () => ({
    user_id: await makeTrader(),
    tier: "custom",
    requests_per_minute: 7,
    burst_capacity: 8,
    expires_at: "2090-01-01T00:00:00Z",
  }),
  deposit: async () => ({ user_id: await makeTrader(), amount_cents: 100, reference: "in" }),
  withdraw: async () => ({ user_id: await makeTrader(), amount_cents: 100, reference: "out" }),
  give_bonus: async () => ({
    name: "welcome",
    users: JSON.stringify([{ user_id: await makeTrader(), amount_cents: 100 }]),
  }),
  statement: async () => ({
    user_id: await makeTrader(),
    from_day: "2040-01-01",
    to_day: "2040-01-31",
  }),
  reconcile: async () => ({ day: "2020-01-01", bank: "[]" }),
  close_day: async () => {
    await operate("reconcile", { day: "2020-01-02", bank: "[]" });
    return { day: "2020-01-02", reason: "all agrees" };
  },
  publish_proof: async () => ({}),
  add_note: async () => ({ user_id: await makeTrader(), note: "called twice" }),
  adjust_balance: async () => ({
    user_id: await makeTrader(),
    amount_cents: -100,
    reference: "ticket 1",
    reason: "paid twice",
  }),
  reverse_deposit: async () => {
    const user_id = await makeTrader();
    await operate("deposit", { user_id, amount_cents: 100, reference: "bank 1" });
    return { reference: "bank 1", reason: "charged back", user_id };
  },
  void_trade: async () => {
    const market = await makeMarket();
    await exchange.giveShares(market, await makeTrader(), "yes", 10);
    const { rows } = await exchange.database.pool.query(
      "select public_id from trading.trades order by id desc limit 1",
    );
    return { trade_id: rows[0].public_id, reason: "a typing error" };
  },
  void_market: async () => ({ market_id: await makeMarket(), reason: "no answer" }),
  pay_out_fees: async () => {
    await exchange.giveShares(await makeMarket(), await makeTrader(), "yes", 10);
    return { amount_cents: 1, reference: "transfer 1" };
  },
  set_loss_limits: async () => ({
    user_id: await makeTrader(),
    day_cents: 1,
    week_cents: null,
    month_cents: 3,
  }),
  self_exclude: async () => ({ user_id: await makeTrader(), until: "2090-01-01T00:00:00Z" }),
  freeze_user: async () => ({ user_id: await makeTrader(), reason: "why", keep_sessions: true }),
  unfreeze_user: async () => ({ user_id: await makeTrader(), reason: "why" }),
  user_access: async () => ({ user_id: await makeTrader() }),
  recover_account: async () => ({ user_id: await makeTrader(), email: "back@test.example" }),
  export_user: async () => ({ user_id: await makeTrader() }),
  erase_user: async () => ({ user_id: await makeTrader({ cents: 0 }), reason: "asked for it" }),
  cancel_orders: async () => ({ user_id: await makeTrader(), market_id: await makeMarket() }),
  set_stream_cap: async () => ({ holder: "user", max_streams: 20 }),
  set_dispute_window: async () => ({ hours: 48, reason: "a holiday" }),
  set_minimum_age: async () => ({ years: 0, reason: "the law" }),
  answer_dispute: async () => ({ dispute_id: await makeDispute(exchange), answer: "It counts." }),
  set_trading_pause: async () => ({ paused: false, reason: "over" }),
  cancel_fee_schedule: async () => ({
    schedule_id: await operate("set_fee_schedule", {
      ...{ taker_rate_bps: 1, effective_from: "2090-01-01T00:00:00Z" },
    }).then(Number),
  }),
  set_cash_cap: async () => ({ kind: "bonus", per_call_cents: null, per_day_cents: 1_000_000 }),
  set_fee_schedule: async () => ({ taker_rate_bps: 600, category: "tests" }),
  run_due: async () => ({}),
  refresh_leaderboard: async () => ({}),
};

async function makeKey(): Promise<string> {
  const user_id = await makeTrader();
  await operate("create_api_key", { user_id, name: "key" });
  const { rows } = await exchange.database
    .connectAs("exchange_operator")
    .query("select id from admin.list_api_keys(user_id => $1)", [user_id]);
  return rows[0].id;
}

/** Arguments that are too long, or personal: the row has what they led to. */
const withheld: Record<string, string> = {
  add_note: "note",
  create_markets: "markets",
  reconcile: "bank",
};

/** These need a member of staff: proposals.test.ts. */
const byStaff = ["approve", "end_self_exclusion", "propose", "reject"];

let members = 0;

const makeStaffMember = (): Promise<string> =>
  operate("create_staff", {
    ...{ email: `member-${(members += 1)}@staff.example`, name: "Member", roles: ["cash"] },
  });

async function makeStaffKey(): Promise<string> {
  await operate("create_staff_key", { name: "Otto", role: "operator" });
  const { rows } = await exchange.database
    .connectAs("exchange_operator")
    .query("select id from admin.list_staff_keys() where name = 'Otto'");
  return rows[0].id;
}

async function auditLog(): Promise<any[]> {
  const { rows } = await exchange.database.pool.query(
    "select operator, action, arguments, called_at as at from admin.audit_entries order by audit_key",
  );
  return rows;
}

test.serial("these tests cover every function that operators have", async (t) => {
  const { rows } = await exchange.database.pool.query(
    `select p.proname as name from pg_proc as p
     where p.pronamespace = 'admin'::regnamespace
       and p.provolatile = 'v'
       and has_function_privilege('exchange_operator', p.oid, 'execute') order by 1`,
  );
  t.deepEqual(
    rows.map((row) => row.name),
    [...Object.keys(calls), ...byStaff].sort(),
    "a new function of admin is called in this file too",
  );
});

for (const [name, prepare] of Object.entries(calls)) {
  test.serial(`admin.${name} writes one row to the audit log`, async (t) => {
    const values = await prepare();
    const before = await auditLog();
    const from = Date.now();
    await operate(name, values);
    const rows = (await auditLog()).slice(before.length);
    // A copy also has the row of the market that it made.
    t.is(rows.length, name === "copy_market" ? 2 : 1);
    const { operator, action, arguments: written, at } = rows.at(-1);
    t.is(action, name);
    const { rows: login } = await exchange.database.pool.query("select session_user as name");
    t.is(operator, login[0].name);
    t.true(Math.abs(at.getTime() - from) < 60_000);
    for (const [argument, value] of Object.entries(values)) {
      if (withheld[name] === argument) {
        t.is(written[argument], undefined);
        continue;
      }
      const isTime = typeof value === "string" && value.endsWith("Z");
      const isJson = argument === "users";
      const wanted = isTime
        ? new Date(value).getTime()
        : isJson
          ? JSON.parse(String(value))
          : value;
      const found = isTime ? new Date(written[argument]).getTime() : written[argument];
      t.deepEqual(found, wanted, argument);
    }
  });
}

test.serial("a call that fails leaves no row", async (t) => {
  const before = await auditLog();
  await t.throwsAsync(
    operate("withdraw", {
      user_id: "01900000-0000-7000-8000-000000000000",
      amount_cents: 1,
      reference: "one",
    }),
  );
  await t.throwsAsync(operate("set_fee_schedule", { taker_rate_bps: -1 }));
  await t.throwsAsync(operate("create_category", { slug: "tests", name: "Again" }));
  t.deepEqual(await auditLog(), before);
});

test.serial("an API key or a session's cookie is never in the audit log", async (t) => {
  const user_id = await makeTrader();
  const key: string = await operate("create_api_key", { user_id, name: "secret" });
  const cookie: string = await operate("create_session", { user_id });
  await operate("end_sessions", { user_id, cookie });
  const { rows } = await exchange.database.pool.query(
    "select count(*) from admin.audit_log where arguments::text ~ $1",
    [`${key.slice(3)}|${cookie.slice(3)}`],
  );
  t.is(rows[0].count, 0);
});
