import test from "ava";
import type { Pool } from "pg";
import { makeDispute } from "../../helpers/exchange/disputes.ts";
import { withClient } from "../../helpers/database/test_database.ts";
import { callBy, makeStaff, makeStaffPasskey } from "../../helpers/exchange/staff.ts";
import type { StaffMember } from "../../helpers/exchange/staff.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/**
 * admin.commands: the functions of operators, and the role that each needs, asked of each role. Every
 * call leaves one row of the audit log that says who, when, what and with which arguments.
 */

const exchange = testExchange(test);
const { makeMarket, makeTrader, operate } = exchange;

const roles = ["audit", "cash", "incidents", "markets", "staff", "users"] as const;
type Role = (typeof roles)[number];

const user = async () => ({ user_id: await makeTrader() });
const market = async () => ({ market_id: await makeMarket() });
let made = 0;
const unique = () => `made-${(made += 1)}`;

const member = async () => ({ staff_id: (await makeStaff(exchange, ["audit"])).staffId });

const keyId = async () => {
  await operate("create_api_key", { ...(await user()), name: unique() });
  const rows = await exchange.query(
    "select public_id from identity.api_keys order by id desc limit 1",
  );
  return { key_id: rows[0].public_id };
};

const later = "2090-01-01T00:00:00Z";
const laterFee = () =>
  operate("set_fee_schedule", { taker_rate_bps: 1, effective_from: later }).then(Number);

const staffKeyId = async () => {
  await operate("create_staff_key", { name: unique(), role: "analyst" });
  const rows = await exchange.query(
    "select public_id from identity.staff_keys order by id desc limit 1",
  );
  return { key_id: rows[0].public_id };
};

const category = { category: "tests" };
const event = async () => ({
  event_id: await operate("create_event", { title: "E", ...category }),
});

/** Who may call each function, in words of this test, and arguments with which it succeeds. */
const commands: Record<string, [Role | "any", () => Promise<Record<string, unknown>>]> = {
  create_category: ["markets", async () => ({ slug: unique(), name: unique(), position: 7 })],
  create_event: ["markets", async () => ({ title: "E", ...category, live: true })],
  edit_event: ["markets", async () => ({ ...(await event()), title: "F", description: "D" })],
  set_event_live: [
    "markets",
    async () => ({ ...(await event()), live: true, live_delay_ms: 1000 }),
  ],
  create_market: ["markets", async () => ({ title: "M", ...category })],
  copy_market: ["markets", async () => ({ ...(await market()), title: "M" })],
  create_markets: [
    "markets",
    async () => ({ markets: JSON.stringify([{ title: "M", ...category }]), dry_run: false }),
  ],
  edit_market: ["markets", async () => ({ ...(await market()), title: "N", close_time: later })],
  set_market_source: [
    "markets",
    async () => ({ ...(await market()), rules: "R", source_url: "https://office.example/" }),
  ],
  set_minimum_age: ["users", async () => ({ years: 0, reason: "as announced" })],
  set_dispute_window: ["markets", async () => ({ hours: 72, reason: "as announced" })],
  answer_dispute: [
    "markets",
    async () => ({ dispute_id: await makeDispute(exchange), answer: "It counts." }),
  ],
  set_market_status: ["markets", async () => ({ ...(await market()), status: "paused" })],
  preview_resolution: ["any", async () => ({ ...(await market()), outcome: "yes" })],
  resolve_market: [
    "markets",
    async () => ({ ...(await market()), outcome: "custom", yes_payout_cents: 40 }),
  ],
  correct_resolution: [
    "markets",
    async () => {
      const { market_id } = await market();
      await operate("resolve_market", { market_id, outcome: "yes" });
      return { market_id, outcome: "no", reason: "a mistake" };
    },
  ],
  void_trade: [
    "markets",
    async () => {
      await exchange.giveShares(await makeMarket(), await makeTrader(), "yes", 10);
      const rows = await exchange.query(
        "select public_id as trade_id from trading.trades order by id desc limit 1",
      );
      return { ...rows[0], reason: "a mistake" };
    },
  ],
  void_market: ["markets", async () => ({ ...(await market()), reason: "no answer" })],
  cancel_fee_schedule: ["cash", async () => ({ schedule_id: await laterFee() })],
  set_cash_cap: [
    "staff",
    async () => ({ kind: "bonus", per_call_cents: null, per_day_cents: 1_000_000 }),
  ],
  set_fee_schedule: ["cash", async () => ({ taker_rate_bps: 600, ...category })],
  deposit: ["cash", async () => ({ ...(await user()), amount_cents: 1, reference: unique() })],
  withdraw: ["cash", async () => ({ ...(await user()), amount_cents: 1, reference: unique() })],
  give_bonus: [
    "cash",
    async () => ({
      name: unique(),
      users: JSON.stringify([{ ...(await user()), amount_cents: 1 }]),
    }),
  ],
  adjust_balance: [
    "cash",
    async () => ({ ...(await user()), amount_cents: -1, reference: unique(), reason: "why" }),
  ],
  reverse_deposit: [
    "cash",
    async () => {
      const values = { ...(await user()), amount_cents: 1, reference: unique() };
      await operate("deposit", values);
      return { reference: values.reference, reason: "why", user_id: values.user_id };
    },
  ],
  pay_out_fees: [
    "cash",
    async () => {
      await exchange.giveShares(await makeMarket(), await makeTrader(), "yes", 10);
      return { amount_cents: 1, reference: unique() };
    },
  ],
  statement: [
    "any",
    async () => ({ ...(await user()), from_day: "2040-01-01", to_day: "2040-01-31" }),
  ],
  reconcile: ["cash", async () => ({ day: "2040-01-01", bank: "[]" })],
  publish_proof: ["cash", async () => ({})],
  close_day: [
    "cash",
    async () => {
      const rows = await exchange.query(
        "select coalesce(max(day) + 1, '2020-01-01')::text as day from ledger.closed_days",
      );
      await operate("reconcile", { ...rows[0], bank: "[]" });
      return { ...rows[0], reason: "all agrees" };
    },
  ],
  create_user: [
    "users",
    async () => ({ email: `${unique()}@test.example`, display_name: "E", handle: unique() }),
  ],
  set_profile: ["users", async () => ({ ...(await user()), private: true })],
  create_api_key: ["users", async () => ({ ...(await user()), name: "key" })],
  list_api_keys: ["any", user],
  rotate_api_key: ["users", async () => ({ ...(await keyId()), overlap: "01:00:00" })],
  revoke_api_key: ["users", keyId],
  create_session: ["users", user],
  end_sessions: ["users", user],
  set_sign_up: ["users", async () => ({ policy: "open", play_money_cents: 0 })],
  invite_user: ["users", async () => ({ email: `${unique()}@test.example` })],
  sign_in_link: ["users", user],
  set_rate_policy: [
    "users",
    async () => ({
      ...(await user()),
      ...{ tier: "custom", requests_per_minute: 7, burst_capacity: 8, expires_at: later },
    }),
  ],
  set_loss_limits: [
    "users",
    async () => ({ ...(await user()), day_cents: 1, week_cents: null, month_cents: 3 }),
  ],
  self_exclude: ["users", async () => ({ ...(await user()), until: later })],
  freeze_user: ["users", async () => ({ ...(await user()), reason: "why", keep_sessions: true })],
  unfreeze_user: ["users", async () => ({ ...(await user()), reason: "why" })],
  user_access: ["any", user],
  add_note: ["users", async () => ({ ...(await user()), note: "called twice" })],
  export_user: ["users", user],
  erase_user: [
    "users",
    async () => ({ user_id: await makeTrader({ cents: 0 }), reason: "asked for it" }),
  ],
  recover_account: [
    "users",
    async () => ({ ...(await user()), email: `${unique()}@test.example` }),
  ],
  cancel_orders: ["incidents", async () => ({ ...(await user()), ...(await market()) })],
  set_trading_pause: ["incidents", async () => ({ paused: false, reason: "over" })],
  set_rate_limit: [
    "incidents",
    async () => ({ bucket: "v1", max_requests: 100_000, window_seconds: 60 }),
  ],
  set_stream_cap: ["incidents", async () => ({ holder: "user", max_streams: 20 })],
  run_due: ["incidents", async () => ({})],
  refresh_leaderboard: ["incidents", async () => ({})],
  create_staff: [
    "staff",
    async () => ({ email: `${unique()}@staff.example`, name: "S", roles: ["cash"] }),
  ],
  invite_staff: ["staff", member],
  set_staff_roles: ["staff", async () => ({ ...(await member()), roles: ["audit", "users"] })],
  remove_staff: ["staff", member],
  remove_staff_passkey: ["staff", () => makeStaffPasskey(exchange)],
  create_staff_key: ["staff", async () => ({ name: unique(), role: "operator" })],
  list_staff_keys: ["any", async () => ({})],
  revoke_staff_key: ["staff", staffKeyId],
  set_approval_rule: [
    "staff",
    async () => ({ command: "withdraw", role: "cash", from_cents: 1000 }),
  ],
  remove_approval_rule: [
    "staff",
    async () => {
      await operate("set_approval_rule", { command: "withdraw", role: "cash" });
      return { command: "withdraw" };
    },
  ],
};

/** Who may propose, approve and reject depends on the command: proposals.test.ts. */
const ofProposals = ["approve", "propose", "reject"];
/** Always needs approval: approvals.test.ts. */
const always = ["end_self_exclusion"];

/** Arguments that are too long, or personal: the row of the audit log has what they led to. */
const withheld: Record<string, string> = {
  add_note: "note",
  create_markets: "markets",
  reconcile: "bank",
};

/** These also leave the row of the market that they make: create_markets.test.ts. */
const makesMarket = ["copy_market", "create_markets"];

async function auditLog(after = 0): Promise<any[]> {
  const rows = await exchange.query(
    `select audit_key as key, operator, action, arguments, called_at as at
     from admin.audit_entries where audit_key > $1 order by audit_key`,
    [after],
  );
  return rows;
}

/** One of each role; "cash" has a second one, so that a rule can be set. */
const members = {} as Record<Role, StaffMember>;
let operators: Pool;
/** Whose session the tests have. */
let login: string;
/** Of a row of the audit log: later tests look behind it. */
let lastKey = 0;

/** What the log has of an argument and what it should have, in one form. */
function asWritten(
  argument: string,
  given: unknown,
  found: any,
): [found: unknown, wanted: unknown] {
  const isTime = typeof given === "string" && given.endsWith("Z");
  if (isTime) return [new Date(found).getTime(), new Date(given).getTime()];
  return [found, argument === "users" ? JSON.parse(String(given)) : given];
}

test.serial.before("make staff", async () => {
  operators = exchange.database.connectAs("exchange_operator", { max: 1, lockTimeoutMs: 5000 });
  [{ login }] = await exchange.query("select session_user as login");
  for (const role of roles) members[role] = await makeStaff(exchange, [role]);
  await makeStaff(exchange, ["cash"]);
});

test("the table names the functions that operators have, and these tests all of them", async (t) => {
  const rows = await exchange.query(
    `select p.proname as name from pg_proc as p
     where p.pronamespace = 'admin'::regnamespace
       and p.provolatile = 'v'
       and has_function_privilege('exchange_operator', p.oid, 'execute') order by 1`,
  );
  const functions = rows.map(({ name }) => name);
  const listed = await exchange.query(
    "select command, role, approval from admin.commands order by 1",
  );
  t.deepEqual(
    listed.map(({ command }) => command),
    functions,
  );
  t.deepEqual([...Object.keys(commands), ...ofProposals, ...always].sort(), functions);
});

test("each command that may need approval begins by asking, with its amount", async (t) => {
  const rows = await exchange.query(
    `select c.command, c.approval <> 'never' as may_need,
       p.prosrc ~ 'admin[.]check_approval[(]' as asks,
       p.prosrc ~ format('check_approval[(]''%s'', ', c.command) as has_amount_given,
       p.prosrc ~ format('check_approval[(]''%s''', c.command) as by_its_name,
       c.has_amount
     from admin.commands as c
     join pg_proc as p
       on p.proname = c.command and p.pronamespace = 'admin'::regnamespace`,
  );
  for (const row of rows) {
    t.is(row.asks, row.may_need, row.command);
    t.is(row.by_its_name, row.may_need, row.command);
    t.is(row.has_amount_given, row.has_amount, row.command);
  }
});

test("each command for a role begins by asking for it, before it locks or reads", async (t) => {
  const rows = await exchange.query(
    `select c.command,
       p.prosrc ~ format(
         E'\\nbegin\\n  perform admin[.](check_role|check_approval|audit)[(]''%s''', c.command
       ) as begins_by_asking
     from admin.commands as c
     join pg_proc as p
       on p.proname = c.command and p.pronamespace = 'admin'::regnamespace
     where c.role is not null`,
  );
  const late = rows.filter((row) => !row.begins_by_asking).map(({ command }) => command);
  t.deepEqual(late, []);
});

test.serial("ROLE_REQUIRED: who may not call a command waits for nobody's lock", async (t) => {
  const [market_id, user_id] = [await makeMarket(), await makeTrader()];
  const calls: [string, Record<string, unknown>][] = [
    ["set_market_status", { market_id, status: "closed" }],
    ["cancel_orders", { user_id, market_id }],
    ["freeze_user", { user_id, reason: "R" }],
    ["self_exclude", { user_id }],
    [
      "approve",
      {
        proposal_id: await callBy(operators, members.markets.cookieHash, "propose", {
          command: "resolve_market",
          arguments: JSON.stringify({ market_id, outcome: "yes" }),
          reason: "R",
        }),
      },
    ],
  ];
  await withClient(exchange.database.pool, async (holder) => {
    await holder.query("begin");
    await holder.query("select trading.lock_market(catalog.market_id($1))", [market_id]);
    await holder.query("select from trading.traders where public_id = $1 for update", [user_id]);
    for (const [name, values] of calls) {
      const call = callBy(operators, members.audit.cookieHash, name, values);
      await t.throwsAsync(call, { code: "EX042" }, name);
    }
    await holder.query("rollback");
  });
});

for (const [name, [wanted, prepare]] of Object.entries(commands)) {
  test.serial(
    `ROLE_REQUIRED: ${name} is for ${wanted} role, and each call writes a row to the audit log`,
    async (t) => {
      const values = await prepare();
      const last = (await auditLog(lastKey)).at(-1)?.key ?? 0;
      lastKey = last;
      const callAs = (role: Role) => callBy(operators, members[role].cookieHash, name, values);
      const mayCall = roles.filter((role) => wanted === "any" || wanted === role);
      // A refusal changes nothing, so the same call succeeds after it.
      for (const role of roles.filter((other) => !mayCall.includes(other))) {
        await t.throwsAsync(callAs(role), { code: "EX042" }, role);
      }
      const from = Date.now();
      for (const role of mayCall) await t.notThrowsAsync(callAs(role), role);
      const rows = await auditLog(last);
      t.is(rows.length, mayCall.length * (makesMarket.includes(name) ? 2 : 1));
      const { operator, action, arguments: written, at } = rows.at(-1);
      t.is(action, name);
      t.is(operator, login);
      t.true(Math.abs(at.getTime() - from) < 60_000);
      for (const [argument, value] of Object.entries(values)) {
        if (withheld[name] === argument) t.is(written[argument], undefined);
        else t.deepEqual(...asWritten(argument, value, written[argument]), argument);
      }
      if (name === "set_approval_rule") {
        await operate("remove_approval_rule", { command: "withdraw" });
      }
    },
  );
}

test.serial("a refused call leaves nothing, and no row of the audit log", async (t) => {
  const { user_id } = await user();
  const { cookieHash } = members.markets;
  const before = await exchange.dump();
  const values = { user_id, amount_cents: 5, reference: "refused" };
  await t.throwsAsync(callBy(operators, cookieHash, "deposit", values), { code: "EX042" });
  t.deepEqual(await exchange.dump(), before);
});

test.serial("ROLE_REQUIRED: nobody gives roles to themselves", async (t) => {
  for (const role of roles.filter((name) => name !== "staff")) {
    const { staffId: staff_id, cookieHash } = await makeStaff(exchange, [role]);
    const call = callBy(operators, cookieHash, "set_staff_roles", {
      staff_id,
      roles,
    });
    await t.throwsAsync(call, { code: "EX042" }, role);
  }
});

test.serial("ROLE_REQUIRED: whose a login is can be said by a login only", async (t) => {
  const values = { email: "dba@staff.example", name: "D", roles: ["audit"], login: "exchange_api" };
  const call = callBy(operators, members.staff.cookieHash, "create_staff", values);
  await t.throwsAsync(call, { code: "EX042" });
});

test.serial("roles that are taken are gone at once; several count together", async (t) => {
  const { staffId, cookieHash } = await makeStaff(exchange, ["cash", "users"]);
  const deposit = async () => {
    const values = { ...(await user()), amount_cents: 5, reference: unique() };
    return callBy(operators, cookieHash, "deposit", values);
  };
  await deposit();
  await callBy(operators, cookieHash, "create_session", await user());
  await operate("set_staff_roles", { staff_id: staffId, roles: ["users"] });
  await t.throwsAsync(deposit(), { code: "EX042" });
  await operate("remove_staff", { staff_id: staffId });
  await t.throwsAsync(deposit(), { code: "EX002" });
});

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
  const rows = await exchange.query(
    "select count(*) from admin.audit_log where arguments::text ~ $1",
    [`${key.slice(3)}|${cookie.slice(3)}`],
  );
  t.is(rows[0].count, 0);
});
