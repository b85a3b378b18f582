import test from "ava";
import { callBy, makeStaff } from "../../helpers/exchange/staff.ts";
import type { StaffMember } from "../../helpers/exchange/staff.ts";
import { failure, pairsOf } from "../../helpers/exchange/contention.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** Approval rules: admin.set_approval_rule, admin.remove_approval_rule, and the calls they stop. */

const exchange = testExchange(test, { sessions: 20 });
const { balance, makeTrader, makeTraders, operate } = exchange;

const required = { code: "EX043" };
const by = (member: StaffMember, name: string, values: object) =>
  callBy(operators, member.cookieHash, name, { ...values });
let operators: ReturnType<typeof exchange.database.connectAs>;
let [ann, ben, cleo, stan]: StaffMember[] = [];

test.serial.before("make staff", async () => {
  operators = exchange.database.connectAs("exchange_operator", { max: 20 });
  [ann, ben] = [await makeStaff(exchange, ["cash"]), await makeStaff(exchange, ["cash"])];
  cleo = await makeStaff(exchange, ["users", "cash"]);
  stan = await makeStaff(exchange, ["staff"]);
});

test.afterEach.always("remove all rules", async () => {
  const { rows } = await operators.query("select command from admin.approval_rules");
  for (const { command } of rows) await operate("remove_approval_rule", { command });
});

const setRule = (command: string, role: string, from_cents?: number) =>
  operate("set_approval_rule", { command, role, ...(from_cents && { from_cents }) });

let made = 0;
const reference = () => `reference ${(made += 1)}`;

/** Proposes as one, approves as the other. */
async function agree(command: string, values: object, one = ann!, other = ben!): Promise<any> {
  const proposal_id = await by(one, "propose", {
    ...{ command, arguments: JSON.stringify(values), reason: "asked for" },
  });
  return by(other, "approve", { proposal_id });
}

test.serial(
  "without a rule nothing needs approval, but for the end of a self-exclusion",
  async (t) => {
    const user_id = await makeTrader();
    await operate("deposit", { user_id, amount_cents: 1, reference: reference() });
    await by(ann!, "withdraw", { user_id, amount_cents: 1, reference: reference() });
    await operate("self_exclude", { user_id });
    const values = { user_id, reason: "the wrong user" };
    await t.throwsAsync(operate("end_self_exclusion", values), required);
    await t.throwsAsync(by(cleo!, "end_self_exclusion", values), required);
  },
);

test.serial("APPROVAL_REQUIRED: a rule stops each direct call, by any caller", async (t) => {
  const user_id = await makeTrader({ cents: 500 });
  await setRule("deposit", "cash");
  const values = { user_id, amount_cents: 1, reference: reference() };
  const key = await operate("create_staff_key", { name: "Otto", role: "operator" });
  t.truthy(key);
  for (const call of [
    () => operate("deposit", values),
    () => by(ann!, "deposit", values),
    () => by(cleo!, "deposit", values),
  ]) {
    await t.throwsAsync(call(), { ...required, message: /admin\.propose\(command => 'deposit'/ });
  }
  t.is(await balance(user_id), 500);
  await operate("withdraw", { user_id, amount_cents: 1, reference: reference() });
  t.is(await agree("deposit", values), 500, "499 and 1");
});

test.serial("ROLE_REQUIRED: who may not call a command hears nothing of its rule", async (t) => {
  const values = { user_id: await makeTrader(), amount_cents: 1, reference: reference() };
  await setRule("deposit", "cash");
  await t.throwsAsync(by(stan!, "deposit", values), { code: "EX042" });
});

test.serial("APPROVAL_REQUIRED: no setting passes for an approval", async (t) => {
  const user_id = await makeTrader();
  await setRule("deposit", "cash");
  const client = await operators.connect();
  for (const name of ["exchange.proposal", "exchange.approved", "exchange.credential"]) {
    await client.query("select set_config($1, '', false)", [name]);
  }
  await t.throwsAsync(client.query("select admin.deposit($1, 1, 'forged')", [user_id]), required);
  client.release();
});

test.serial("an approved call frees no other call of the transaction", async (t) => {
  const user_id = await makeTrader();
  await setRule("deposit", "cash");
  const values = { user_id, amount_cents: 1, reference: reference() };
  const proposal_id = await by(ann!, "propose", {
    ...{ command: "deposit", arguments: JSON.stringify(values), reason: "one" },
  });
  const client = await operators.connect();
  await client.query("begin");
  await client.query("select set_config('exchange.credential', $1, true)", [
    ben!.cookieHash.toString("hex"),
  ]);
  await client.query("select admin.approve($1)", [proposal_id]);
  await t.throwsAsync(client.query("select admin.deposit($1, 1, 'another')", [user_id]), required);
  await client.query("rollback");
  client.release();
  await by(ben!, "reject", { proposal_id, reason: "only a test" });
});

for (const command of ["deposit", "withdraw"]) {
  test.serial(`a rule of ${command} from an amount begins exactly there`, async (t) => {
    const user_id = await makeTrader();
    await setRule(command, "cash", 1000);
    const call = (amount_cents: number) =>
      operate(command, { user_id, amount_cents, reference: reference() });
    await call(999);
    await t.throwsAsync(call(1000), required);
    await t.throwsAsync(call(1001), required);
    await t.throwsAsync(call(-1000), required);
    await t.throwsAsync(call(-999), { code: "EX001" });
    await t.throwsAsync(
      operate(command, { user_id, amount_cents: null, reference: "r" }),
      required,
    );
    await agree(command, { user_id, amount_cents: 1000, reference: reference() });
  });
}

test.serial("a rule of adjust_balance counts the amount without its sign", async (t) => {
  const user_id = await makeTrader();
  await setRule("adjust_balance", "cash", 1000);
  const adjust = (amount_cents: number | string) =>
    operate("adjust_balance", { user_id, amount_cents, reference: reference(), reason: "why" });
  await adjust(999);
  await adjust(-999);
  for (const cents of [1000, -1000, "-9223372036854775808", "9223372036854775807"]) {
    await t.throwsAsync(adjust(cents), required);
  }
});

test.serial("a rule of give_bonus counts all users of a call together", async (t) => {
  const [one, other] = await makeTraders(2);
  await setRule("give_bonus", "cash", 1000);
  const give = (cents: number) =>
    operate("give_bonus", {
      name: reference(),
      users: JSON.stringify([
        { user_id: one, amount_cents: 500 },
        { user_id: other, amount_cents: cents },
      ]),
    });
  t.is(await give(499), 2);
  await t.throwsAsync(give(500), required);
});

test.serial("a rule of pay_out_fees", async (t) => {
  await exchange.giveShares(await exchange.makeMarket(), await makeTrader(), "yes", 100);
  await setRule("pay_out_fees", "cash", 2);
  await operate("pay_out_fees", { amount_cents: 1, reference: reference() });
  const values = { amount_cents: 2, reference: reference() };
  await t.throwsAsync(operate("pay_out_fees", values), required);
  await agree("pay_out_fees", values);
});

test.serial("INVALID_REQUEST: rules that make no sense", async (t) => {
  for (const [command, role, from_cents] of [
    ["freeze_user", "users", null],
    ["propose", "users", null],
    ["end_everything", "users", null],
    [null, "users", null],
    ["deposit", "king", null],
    ["deposit", null, null],
    ["deposit", "cash", 0],
    ["deposit", "cash", -1],
    ["resolve_market", "markets", 100],
  ]) {
    await t.throwsAsync(operate("set_approval_rule", { command, role, from_cents }), {
      code: "EX001",
    });
  }
  await t.throwsAsync(operate("remove_approval_rule", { command: "deposit" }), { code: "EX017" });
});

test.serial(
  "INVALID_STATE: a rule needs two who can approve and one who can propose",
  async (t) => {
    const invalid = { code: "EX019" };
    await t.throwsAsync(setRule("create_staff", "staff"), invalid, "only Stan");
    const { staffId } = await makeStaff(exchange, ["staff"]);
    await setRule("create_staff", "staff");
    await operate("remove_approval_rule", { command: "create_staff" });
    await operate("remove_staff", { staff_id: staffId });
    await t.throwsAsync(setRule("create_staff", "staff"), invalid, "one was removed");
    const invited = await operate("create_staff", {
      ...{ email: "invited@staff.example", name: "Invited", roles: ["staff"] },
    });
    await t.throwsAsync(setRule("create_staff", "staff"), invalid, "one has not accepted");
    await operate("remove_staff", { staff_id: invited });
    await t.throwsAsync(setRule("resolve_market", "cash"), invalid, "nobody has the role markets");
  },
);

test.serial("a rule takes the place of the one before, and the view shows it", async (t) => {
  const shown = async () =>
    (await operators.query("select * from admin.approval_rules order by command")).rows;
  await setRule("withdraw", "cash", 1000);
  await setRule("withdraw", "cash");
  t.deepEqual(await shown(), [{ command: "withdraw", role: "cash", from_cents: null }]);
  await operate("remove_approval_rule", { command: "withdraw" });
  t.deepEqual(await shown(), []);
});

test.serial("rules about rules: nobody removes them alone, and two do", async (t) => {
  const second = await makeStaff(exchange, ["staff"]);
  await setRule("set_approval_rule", "staff");
  await agree(
    "set_approval_rule",
    { command: "remove_approval_rule", role: "staff" },
    stan,
    second,
  );
  await t.throwsAsync(setRule("deposit", "cash"), required);
  for (const command of ["set_approval_rule", "remove_approval_rule"]) {
    await t.throwsAsync(operate("remove_approval_rule", { command }), required);
    await t.throwsAsync(by(stan!, "remove_approval_rule", { command }), required);
  }
  await t.throwsAsync(agree("remove_approval_rule", { command: "set_approval_rule" }, stan, stan), {
    code: "EX044",
  });
  await agree("remove_approval_rule", { command: "set_approval_rule" }, stan, second);
  await agree("remove_approval_rule", { command: "remove_approval_rule" }, second, stan);
  t.deepEqual((await operators.query("select * from admin.approval_rules")).rows, []);
  await operate("remove_staff", { staff_id: second.staffId });
});

test.serial("a rule about rules holds for the call that changes it", async (t) => {
  const [auditor, second] = [
    await makeStaff(exchange, ["audit"]),
    await makeStaff(exchange, ["staff"]),
  ];
  await makeStaff(exchange, ["audit"]);
  await setRule("remove_approval_rule", "audit");
  await setRule("set_approval_rule", "audit");
  const change = { command: "set_approval_rule", role: "staff" };
  await t.throwsAsync(agree("set_approval_rule", change, stan, second), { code: "EX042" });
  await agree("set_approval_rule", change, stan, auditor);
  await agree("remove_approval_rule", { command: "remove_approval_rule" }, stan, auditor);
  await agree("remove_approval_rule", { command: "set_approval_rule" }, stan, second);
  t.deepEqual((await operators.query("select * from admin.approval_rules")).rows, []);
  await operate("remove_staff", { staff_id: second.staffId });
});

const pair = pairsOf(test, exchange, 15);

pair.serial(
  "a rule is set beside a direct call: the call is before it, or refused",
  ["called", "refused"],
  async (contention, t) => {
    const user_id = await makeTrader({ cents: 0 });
    const [refused] = await contention.together([
      () => failure(operate("deposit", { user_id, amount_cents: 7, reference: "one" })),
      () => setRule("deposit", "cash"),
    ]);
    t.is(await balance(user_id), refused === null ? 7 : 0);
    // The check that no call under a rule lacks approval goes by the order of the audit log.
    const { rows } = await operators.query(
      `select action from admin.audit_entries
       where action in ('deposit', 'set_approval_rule') order by audit_key desc limit 2`,
    );
    t.is(rows[0].action, "set_approval_rule");
    await operate("remove_approval_rule", { command: "deposit" });
    if (refused === null) return "called";
    t.is(refused, "EX043");
    return "refused";
  },
);

pair.serial(
  "a rule is removed beside a direct call: the call is refused, or after it",
  ["called", "refused"],
  async (contention, t) => {
    const user_id = await makeTrader({ cents: 0 });
    await setRule("deposit", "cash");
    const [refused] = await contention.together([
      () => failure(operate("deposit", { user_id, amount_cents: 7, reference: "one" })),
      () => operate("remove_approval_rule", { command: "deposit" }),
    ]);
    t.is(await balance(user_id), refused === null ? 7 : 0);
    return refused === null ? "called" : "refused";
  },
);
