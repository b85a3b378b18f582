import test from "ava";
import type { PoolClient } from "pg";
import { sha256Of } from "../../../src/secrets.ts";
import { makeLogin } from "../../helpers/database/logins.ts";
import { callBy, makeStaff, makeStaffPasskey } from "../../helpers/exchange/staff.ts";
import type { StaffMember } from "../../helpers/exchange/staff.ts";
import { failure, pairsOf } from "../../helpers/exchange/contention.ts";
import { inTransaction, isWaiting, lockUser } from "../../helpers/exchange/held_locks.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { until } from "../../helpers/until.ts";

/** Four eyes: admin.propose, admin.approve, admin.reject and the view admin.proposals. */

const exchange = testExchange(test, { sessions: 20 });
const { balance, clock, makeMarket, makeTrader, operate } = exchange;

const HOUR = 3_600_000;
const nobody = "01900000-0000-7000-8000-000000000000";
const invalid = { code: "EX001" };
const decided = { code: "EX019" };
const roleRequired = { code: "EX042" };
const own = { code: "EX044" };

let operators: ReturnType<typeof exchange.database.connectAs>;
/** Each has all roles of commands but one: audit only reads. */
let [ann, ben, aud]: StaffMember[] = [];
const all = ["cash", "incidents", "markets", "staff", "users"];

test.serial.before("make staff", async () => {
  operators = exchange.database.connectAs("exchange_operator", { max: 20 });
  [ann, ben] = [await makeStaff(exchange, all), await makeStaff(exchange, all)];
  aud = await makeStaff(exchange, ["audit"]);
});

const by = (member: StaffMember | Buffer, name: string, values: object): Promise<any> =>
  callBy(operators, "cookieHash" in member ? member.cookieHash : member, name, { ...values });

const propose = (command: string, values: unknown, member: StaffMember | Buffer = ann!) =>
  by(member, "propose", { command, arguments: JSON.stringify(values), reason: "asked for" });
const approve = (proposal_id: string, member: StaffMember | Buffer = ben!) =>
  by(member, "approve", { proposal_id });
const reject = (proposal_id: string, member: StaffMember | Buffer = ben!, reason = "no") =>
  by(member, "reject", { proposal_id, reason });

async function shown(proposalId: string): Promise<any> {
  const { rows } = await operators.query("select * from admin.proposals where proposal_id = $1", [
    proposalId,
  ]);
  return rows[0];
}

let made = 0;
const reference = () => `reference ${(made += 1)}`;
const deposit = async (cents = 250) => ({
  ...{ user_id: await makeTrader({ cents: 0 }), amount_cents: cents, reference: reference() },
});

async function keyOf(user_id: string): Promise<string> {
  await operate("create_api_key", { user_id, name: "key" });
  const [key] = await exchange.query("select public_id from identity.api_keys order by id desc");
  return key.public_id;
}

async function reversible(): Promise<string> {
  const values = await deposit();
  await operate("deposit", values);
  return values.reference;
}

test.serial(
  "a proposal changes nothing, shows what it would do, and is carried out once",
  async (t) => {
    const values = await deposit();
    const id = await propose("deposit", values);
    t.is(await balance(values.user_id), 0);
    t.like(await shown(id), {
      ...{ command: "deposit", arguments: values, reason: "asked for", preview: 250, result: null },
      ...{ proposed_by_id: ann!.staffId, status: "open", approver_role: "cash", decided_by: null },
    });
    t.is(await approve(id), 250);
    t.is(await balance(values.user_id), 250);
    t.like(await shown(id), { status: "approved", decided_by_id: ben!.staffId, result: 250 });
    await t.throwsAsync(approve(id), decided);
    await t.throwsAsync(reject(id), decided);
    t.is(await balance(values.user_id), 250);

    const { rows } = await operators.query(
      `select action, staff_id, proposal_id from admin.audit_entries
     order by audit_key desc limit 3`,
    );
    t.deepEqual(rows, [
      { action: "approve", staff_id: ben!.staffId, proposal_id: null },
      { action: "deposit", staff_id: ben!.staffId, proposal_id: id },
      { action: "propose", staff_id: ann!.staffId, proposal_id: null },
    ]);
  },
);

test.serial("each command that may need approval can be proposed and approved", async (t) => {
  const user = async () => ({ user_id: await makeTrader() });
  const market = async () => ({ market_id: await makeMarket() });
  const { staffId } = await makeStaff(exchange, ["users"]);
  const resolved = await market();
  await operate("resolve_market", { ...resolved, outcome: "yes" });
  const excluded = await user();
  await operate("self_exclude", excluded);
  const frozen = await user();
  await operate("freeze_user", { ...frozen, reason: "why" });
  await exchange.giveShares(await makeMarket(), await makeTrader(), "yes", 100);
  await exchange.giveShares(await makeMarket(), await makeTrader(), "yes", 10);
  const trades = await exchange.query(
    "select public_id as trade_id from trading.trades order by id desc limit 1",
  );
  await operate("reconcile", { day: "2020-01-01", bank: "[]" });
  const calls: Record<string, object> = {
    close_day: { day: "2020-01-01" },
    void_trade: { ...trades[0], reason: "a mistake" },
    void_market: { ...(await market()), reason: "no answer" },
    resolve_market: { ...(await market()), outcome: "custom", yes_payout_cents: 40 },
    correct_resolution: { ...resolved, outcome: "no", reason: "a mistake" },
    deposit: await deposit(),
    withdraw: { ...(await user()), amount_cents: 3, reference: reference() },
    give_bonus: { name: reference(), users: [{ ...(await user()), amount_cents: 5 }] },
    adjust_balance: { ...(await user()), amount_cents: -1, reference: reference(), reason: "w" },
    reverse_deposit: { reference: await reversible(), reason: "not ours" },
    pay_out_fees: { amount_cents: 1, reference: reference() },
    unfreeze_user: { ...frozen, reason: "over" },
    recover_account: { ...(await user()), email: "back@test.example" },
    end_self_exclusion: { ...excluded, reason: "the wrong user" },
    erase_user: { user_id: await makeTrader({ cents: 0 }), reason: "asked for" },
    set_loss_limits: { ...(await user()), day_cents: 5, week_cents: null, month_cents: null },
    create_api_key: { ...(await user()), name: "of support" },
    rotate_api_key: { key_id: await keyOf(await makeTrader()) },
    create_session: { ...(await user()), valid_for: "1 hour" },
    sign_in_link: await user(),
    create_staff: { email: "new@staff.example", name: "New", roles: ["cash", "users"] },
    set_staff_roles: { staff_id: staffId, roles: ["cash"] },
    invite_staff: { staff_id: (await makeStaff(exchange, ["audit"])).staffId },
    remove_staff: { staff_id: (await makeStaff(exchange, ["audit"])).staffId },
    remove_staff_passkey: await makeStaffPasskey(exchange),
    set_sign_up: { policy: "closed", play_money_cents: 5 },
    set_minimum_age: { years: 0, reason: "the law" },
    set_cash_cap: { kind: "deposit", per_call_cents: null, per_day_cents: null },
    set_approval_rule: { command: "withdraw", role: "cash", from_cents: 1000 },
    remove_approval_rule: { command: "withdraw" },
  };
  const rows = await exchange.query(
    "select command from admin.commands where approval <> 'never' order by 1",
  );
  t.deepEqual(
    Object.keys(calls).sort(),
    rows.map(({ command }) => command),
  );
  for (const [command, values] of Object.entries(calls)) {
    const id = await propose(command, values);
    await t.notThrowsAsync(approve(id), command);
    t.is((await shown(id)).status, "approved");
  }
  const { rows: users } = await operators.query(
    "select excluded_until, frozen_at from admin.users where user_id = any ($1)",
    [[excluded.user_id, frozen.user_id]],
  );
  t.deepEqual(users, Array(2).fill({ excluded_until: null, frozen_at: null }));
  const { rows: staff } = await operators.query(
    "select roles from admin.staff where email = 'new@staff.example' or staff_id = $1 order by 1",
    [staffId],
  );
  t.deepEqual(staff, [{ roles: ["cash"] }, { roles: ["cash", "users"] }]);
});

test.serial("a way into an account is shown to who approves it, and kept nowhere", async (t) => {
  const user_id = await makeTrader();
  const calls: [string, object, RegExp][] = [
    ["create_api_key", { user_id, name: "of support" }, /^jk_/],
    ["rotate_api_key", { key_id: await keyOf(user_id) }, /^jk_/],
    ["create_session", { user_id }, /^js_/],
    ["sign_in_link", { user_id }, /^[/]sign-in#jl_/],
  ];
  for (const [command, values, secret] of calls) {
    const id = await propose(command, values);
    t.is((await shown(id)).preview, null, command);
    t.regex(await approve(id), secret);
    t.like(await shown(id), { status: "approved", preview: null, result: null }, command);
  }
});

test.serial("OWN_PROPOSAL: nobody approves their own, by no session, key or login", async (t) => {
  const key = await by(ann!, "create_staff_key", { name: "Ann's", role: "operator" });
  const next = await propose("deposit", await deposit());
  await t.throwsAsync(approve(next, ann), own);
  await t.throwsAsync(approve(next, sha256Of(key)), own);
  const byKey = await propose("deposit", await deposit(), sha256Of(key));
  await t.throwsAsync(approve(byKey, ann), own);

  const { pool, connectionString } = exchange.database;
  const login = await makeLogin(pool, connectionString, ["exchange_operator"]);
  t.teardown(login.drop);
  const eve = await makeStaff(exchange, all, { login: login.name });
  const client = await login.connect();
  const mine = await propose("deposit", await deposit(), eve);
  const approveByLogin = (id: string) => client.query("select admin.approve($1)", [id]);
  await t.throwsAsync(approveByLogin(mine), own, "the login is Eve");
  await client.query("select set_config('exchange.credential', $1, false)", [
    ben!.cookieHash.toString("hex"),
  ]);
  await t.throwsAsync(approveByLogin(mine), { code: "EX002" }, "and nobody else");
  await client.query("reset exchange.credential");
  await approveByLogin(next);
  for (const id of [byKey, mine]) await approve(id);
});

test.serial("ROLE_REQUIRED: only members of staff with the role propose and decide", async (t) => {
  const values = await deposit();
  const key = await operate("create_staff_key", { name: "Otto", role: "operator" });
  const markets = await makeStaff(exchange, ["markets"]);
  const proposing = { command: "deposit", arguments: JSON.stringify(values), reason: "why" };
  await t.throwsAsync(operate("propose", proposing), roleRequired);
  for (const who of [sha256Of(key), aud!, markets]) {
    await t.throwsAsync(propose("deposit", values, who), roleRequired);
  }
  const proposal_id = await propose("deposit", values);
  await t.throwsAsync(operate("approve", { proposal_id }), roleRequired);
  await t.throwsAsync(operate("reject", { proposal_id, reason: "no" }), roleRequired);
  for (const who of [sha256Of(key), aud!, markets]) {
    await t.throwsAsync(approve(proposal_id, who), roleRequired);
    await t.throwsAsync(reject(proposal_id, who), roleRequired);
  }
  t.is(await balance(values.user_id), 0);

  await makeStaff(exchange, ["audit"]);
  await operate("set_approval_rule", { command: "deposit", role: "audit" });
  t.is((await shown(proposal_id)).approver_role, "audit");
  await t.throwsAsync(approve(proposal_id, ben), roleRequired, "the rule has another role");
  await approve(proposal_id, aud);
  t.is(await balance(values.user_id), 250);
  await operate("remove_approval_rule", { command: "deposit" });
});

test.serial(
  "ROLE_REQUIRED, INVALID_STATE: play money needs the role cash of who proposes and approves it",
  async (t) => {
    const [guard, second] = [await makeStaff(exchange, ["users"]), await makeStaff(exchange, all)];
    const { pool, connectionString } = exchange.database;
    const login = await makeLogin(pool, connectionString, ["exchange_operator"]);
    t.teardown(login.drop);
    await makeStaff(exchange, ["users"], { login: login.name });
    const client = await login.connect();
    const money = async () =>
      (await operators.query("select play_money_cents from admin.sign_up")).rows[0]
        .play_money_cents;
    const giving = (play_money_cents: number) => ({ policy: "closed", play_money_cents });
    await operate("set_sign_up", giving(0));

    await t.throwsAsync(propose("set_sign_up", giving(7), guard), roleRequired);
    await t.throwsAsync(
      client.query("select admin.propose('set_sign_up', $1, 'more')", [giving(7)]),
      roleRequired,
    );
    const none = await propose("set_sign_up", giving(0), guard);
    await client.query("select admin.approve($1)", [none]);

    const some = await propose("set_sign_up", giving(7));
    await t.throwsAsync(approve(some, guard), roleRequired);
    await t.throwsAsync(client.query("select admin.approve($1)", [some]), roleRequired);
    t.is(await money(), 0);
    await approve(some);
    t.is(await money(), 7);

    const former = await propose("set_sign_up", giving(8), second);
    await operate("set_staff_roles", { staff_id: second.staffId, roles: ["users"] });
    await t.throwsAsync(approve(former), decided);

    await makeStaff(exchange, ["audit"]);
    await operate("set_approval_rule", { command: "set_sign_up", role: "audit" });
    const ruled = await propose("set_sign_up", giving(9));
    await t.throwsAsync(approve(ruled, aud), roleRequired, "the role of the rule is not enough");
    await approve(ruled, await makeStaff(exchange, ["audit", "cash"]));
    t.is(await money(), 9);
    await operate("remove_approval_rule", { command: "set_sign_up" });
  },
);

test.serial("INVALID_STATE: who has lost the role has proposed nothing", async (t) => {
  const eve = await makeStaff(exchange, ["cash"]);
  const [one, two] = [
    await propose("deposit", await deposit(), eve),
    await propose("deposit", await deposit(), eve),
  ];
  await operate("set_staff_roles", { staff_id: eve.staffId, roles: ["users"] });
  await t.throwsAsync(approve(one), decided);
  await operate("set_staff_roles", { staff_id: eve.staffId, roles: ["cash"] });
  await approve(one);
  await operate("remove_staff", { staff_id: eve.staffId });
  await t.throwsAsync(approve(two), decided);
  await reject(two);
});

test.serial("a proposal is rejected for good, also by who made it, for a reason", async (t) => {
  const [one, two] = [
    await propose("deposit", await deposit()),
    await propose("deposit", await deposit()),
  ];
  for (const reason of ["", " ", "x".repeat(1001)]) {
    await t.throwsAsync(reject(one, ben, reason), invalid);
  }
  await reject(one, ben, "not this one");
  t.like(await shown(one), { status: "rejected", rejection: "not this one", result: null });
  await t.throwsAsync(approve(one), decided);
  await reject(two, ann, "a typo");
  t.like(await shown(two), { status: "rejected", decided_by_id: ann!.staffId });
  for (const call of [approve(nobody), reject(nobody)]) {
    await t.throwsAsync(call, { code: "EX017" });
  }
});

test.serial("a rejection keeps no words about a user who was erased", async (t) => {
  const values = await deposit();
  const id = await propose("deposit", values);
  await operate("erase_user", { user_id: values.user_id, reason: "asked for" });
  await reject(id, ben, "John Doe called");
  t.like(await shown(id), { status: "rejected", rejection: "erased" });
  const { rows } = await operators.query(
    "select arguments ->> 'reason' as reason from admin.audit_entries order by audit_key desc limit 1",
  );
  t.deepEqual(rows, [{ reason: "erased" }]);
  t.deepEqual(await exchange.verify(), []);
});

test.serial("what a member proposed does not wait once the member is removed", async (t) => {
  const gone = await makeStaff(exchange, all);
  const id = await propose("deposit", await deposit(), gone);
  t.is((await shown(id)).status, "open");
  await operate("remove_staff", { staff_id: gone.staffId });
  t.is((await shown(id)).status, "expired");
  await t.throwsAsync(approve(id), decided);
  await reject(id);
  t.is((await shown(id)).status, "rejected");
});

test.serial("INVALID_STATE: a proposal can be approved for 24 hours", async (t) => {
  await clock.freeze("2040-01-01T00:00:00Z");
  const fresh = async () =>
    [await makeStaff(exchange, all), await makeStaff(exchange, all)] as const;
  const [one, two] = await fresh();
  const inTime = await propose("deposit", await deposit(), one);
  const late = await propose("deposit", await deposit(), one);
  t.deepEqual((await shown(late)).expires_at, new Date("2040-01-02T00:00:00Z"));
  await clock.advance(12 * HOUR);
  const [, again] = await fresh();
  await t.throwsAsync(approve(inTime, two), { code: "EX002" }, "the session is over");
  await clock.advance(12 * HOUR - 1);
  await approve(inTime, again);
  t.is((await shown(late)).status, "open");
  await clock.advance(1);
  t.is((await shown(late)).status, "expired");
  const [, last] = await fresh();
  await t.throwsAsync(approve(late, last), decided);
  await reject(late, last);
  t.is((await shown(late)).status, "rejected");
  await clock.release();
});

const lockAccount = (client: PoolClient, userId: string) =>
  client.query("select from identity.users where public_id = $1 for no key update", [userId]);

for (const [lock, held] of [
  [lockAccount, "the account, as admin.basis does"],
  [lockUser, "the user, as the command does"],
] as const) {
  test.serial(
    `ROLE_REQUIRED, INVALID_STATE: roles and 24 hours count after the wait for ${held}`,
    async (t) => {
      t.teardown(() => clock.release());
      const meanwhile = async (
        change: (one: StaffMember, two: StaffMember) => Promise<unknown>,
      ) => {
        await clock.freeze("2040-01-01T00:00:00Z");
        const one = await makeStaff(exchange, ["cash"]);
        const values = await deposit();
        const id = await propose("deposit", values, one);
        await clock.advance(23 * HOUR);
        const two = await makeStaff(exchange, ["cash"]);
        const approval = await inTransaction(exchange, "rollback", async (client) => {
          await lock(client, values.user_id);
          const answer = failure(approve(id, two));
          await until("the approval waits", () => isWaiting(exchange, "admin.approve("));
          await change(one, two);
          return { answer };
        });
        const code = await approval.answer;
        t.is(await balance(values.user_id), code === null ? 250 : 0);
        t.is((await shown(id)).status === "approved", code === null);
        return code;
      };
      const take = ({ staffId }: StaffMember) =>
        operate("set_staff_roles", { staff_id: staffId, roles: ["users"] });
      t.is(await meanwhile(() => clock.advance(HOUR - 1)), null);
      t.is(await meanwhile(() => clock.advance(HOUR)), "EX019");
      t.is(await meanwhile((one) => take(one)), "EX019");
      t.is(await meanwhile((_, two) => take(two)), "EX042");
      t.is(await meanwhile((one) => operate("remove_staff", { staff_id: one.staffId })), "EX019");
    },
  );
}

test.serial(
  "INVALID_REQUEST: only commands and arguments that there are, of their types",
  async (t) => {
    const values = await deposit();
    for (const command of [
      ...["freeze_user", "propose", "approve", "set_trading_pause", "audit", "carry_out", "", null],
      ...["pg_sleep", "admin.deposit", "deposit; select 1", "deposit(", 'deposit"'],
    ]) {
      await t.throwsAsync(propose(command!, values), invalid, String(command));
    }
    const { user_id, amount_cents } = values;
    for (const given of [
      ...[null, [], "text", 5, {}, { user_id }, { user_id, amount_cents }],
      { ...values, extra: 1 },
      { ...values, "amount_cents, user_id": 1 },
      { ...values, 'reference" text); drop table admin.rules; --': 1 },
      { ...values, user_id: "' or true --" },
      { ...values, user_id: 5 },
      { ...values, amount_cents: "many" },
      { ...values, amount_cents: 1.5 },
      { ...values, amount_cents: "1e30" },
      { ...values, amount_cents: {} },
      { ...values, amount_cents: null },
      { ...values, reference: null },
    ]) {
      await t.throwsAsync(propose("deposit", given), invalid, JSON.stringify(given));
    }
    for (const reason of [null, "", " ", "x".repeat(1001)]) {
      const given = { command: "deposit", arguments: JSON.stringify(values), reason };
      await t.throwsAsync(by(ann!, "propose", given), invalid);
    }
    await t.throwsAsync(propose("deposit", { ...values, user_id: nobody }), { code: "EX017" });
    await t.throwsAsync(
      propose("withdraw", { ...values, amount_cents: 1 }),
      { code: "EX011" },
      "the command itself refuses it",
    );
    const strange = "'); drop table admin.rules; -- \\ $1 %I";
    const id = await propose("deposit", { ...values, amount_cents: "12", reference: strange });
    t.is(await approve(id), 12);
    const { rows } = await operators.query(
      "select reference, amount_cents from admin.cash_movements where user_key = (select user_key from admin.users where user_id = $1)",
      [user_id],
    );
    t.deepEqual(rows, [{ reference: strange, amount_cents: 12 }]);
  },
);

test.serial("a command that fails at its approval leaves the proposal open", async (t) => {
  const user_id = await makeTrader({ cents: 100 });
  const id = await propose("withdraw", { user_id, amount_cents: 80, reference: reference() });
  await operate("withdraw", { user_id, amount_cents: 50, reference: reference() });
  await t.throwsAsync(approve(id), { code: "EX011" });
  t.is((await shown(id)).status, "open");
  await operate("deposit", { user_id, amount_cents: 30, reference: reference() });
  t.is(await approve(id), 0);
});

const pair = pairsOf(test, exchange, 15);

pair.serial("two approvals meet: it is carried out once", ["once"], async (contention, t) => {
  const values = await deposit();
  const id = await propose("deposit", values);
  const carla = await makeStaff(exchange, ["cash"]);
  const codes = await contention.together([
    () => failure(approve(id)),
    () => failure(approve(id, carla)),
  ]);
  t.deepEqual(codes.toSorted(), ["EX019", null].toSorted());
  t.is(await balance(values.user_id), 250);
  return "once";
});

pair.serial(
  "approval and rejection meet: one of both happens",
  ["approved", "rejected"],
  async (contention, t) => {
    const values = await deposit();
    const id = await propose("deposit", values);
    const codes = await contention.together([
      () => failure(approve(id)),
      () => failure(reject(id, ann)),
    ]);
    const { status } = await shown(id);
    t.deepEqual(codes, status === "approved" ? [null, "EX019"] : ["EX019", null]);
    t.is(await balance(values.user_id), status === "approved" ? 250 : 0);
    return status;
  },
);

pair.serial(
  "two changes of one rule are approved at once: one of both",
  ["one"],
  async (contention, t) => {
    const [low, high] = [100, 200].map((from_cents) => ({
      ...{ command: "withdraw", role: "cash", from_cents },
    }));
    const ids = [await propose("set_approval_rule", low), await propose("set_approval_rule", high)];
    const codes = await contention.together(ids.map((id) => () => failure(approve(id))));
    t.deepEqual(codes.toSorted(), ["EX045", null].toSorted());
    await operate("remove_approval_rule", { command: "withdraw" });
    return "one";
  },
);

test.serial("an id in capitals is that id, also when the user is erased later", async (t) => {
  const user = await makeTrader({ cents: 0 });
  const id = await propose("deposit", {
    ...{ user_id: user.toUpperCase(), amount_cents: "250", reference: reference() },
  });
  t.like((await shown(id)).arguments, { user_id: user, amount_cents: 250 });
  t.deepEqual(await exchange.verify(), []);
  await operate("erase_user", { user_id: user, reason: "case 1" });
  t.like(await shown(id), { reason: "erased", arguments: { user_id: user } });
  t.deepEqual(await exchange.verify(), []);
});
