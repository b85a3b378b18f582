import test from "ava";
import type { Pool } from "pg";
import { failure, pairsOf } from "../helpers/exchange/contention.ts";
import { isWaiting } from "../helpers/exchange/held_locks.ts";
import { callBy, makeStaff } from "../helpers/exchange/staff.ts";
import type { StaffMember } from "../helpers/exchange/staff.ts";
import { testExchange } from "../helpers/exchange/test_exchange.ts";
import { until } from "../helpers/until.ts";

/** Members of staff who act while another ends their access, their roles, or what they decide on. */

const exchange = testExchange(test, { sessions: 20 });
const { makeTrader, operate } = exchange;
const pair = pairsOf(test, exchange, 15);

const UNAUTHORIZED = "EX002";
const NOT_FOUND = "EX017";
const INVALID_STATE = "EX019";
const ROLE_REQUIRED = "EX042";
const PROPOSAL_CHANGED = "EX045";

const newMember = (roles: string[] = ["cash", "staff", "users"]) => makeStaff(exchange, roles);
const by = (member: StaffMember, command: string, values: Record<string, unknown>) =>
  callBy(pool, member.cookieHash, command, values);
const query = async (statement: string, values: unknown[]): Promise<any[]> =>
  (await exchange.database.pool.query(statement, values)).rows;
const shown = async (member: StaffMember) =>
  (await query("select * from admin.staff where staff_id = $1", [member.staffId]))[0];
const keysOf = (member: StaffMember) =>
  query("select * from admin.staff_keys where staff_id = $1", [member.staffId]);

let pool: Pool;
let made = 0;
const newName = () => `name ${(made += 1)}`;

test.serial.before("connect", () => {
  pool = exchange.database.connectAs("exchange_operator", { max: 20 });
});

pair.serial(
  "a member makes a key and is invited again: no key is left",
  ["key first", "invited first"],
  async (contention, t) => {
    const member = await newMember();
    const [code] = await contention.together([
      () => failure(by(member, "create_staff_key", { name: newName(), role: "operator" })),
      () => operate("invite_staff", { staff_id: member.staffId }),
    ]);
    t.true((await keysOf(member)).every(({ revoked_at }) => revoked_at !== null));
    if (code === null) return "key first";
    t.is(code, UNAUTHORIZED);
    return "invited first";
  },
);

pair.serial(
  "two members remove each other: one stays",
  ["one stays", "the other stays"],
  async (contention, t) => {
    const [one, other] = [await newMember(), await newMember()];
    const codes = await contention.together([
      () => failure(by(one, "remove_staff", { staff_id: other.staffId })),
      () => failure(by(other, "remove_staff", { staff_id: one.staffId })),
    ]);
    const stays = (await shown(one)).removed_at === null;
    t.deepEqual(codes, stays ? [null, UNAUTHORIZED] : [UNAUTHORIZED, null]);
    t.is((await shown(other)).removed_at === null, !stays);
    return stays ? "one stays" : "the other stays";
  },
);

pair.serial(
  "two members take a role from each other: one has it still",
  ["one has it", "the other has it"],
  async (contention, t) => {
    const [one, other] = [await newMember(), await newMember()];
    const codes = await contention.together([
      () => failure(by(one, "set_staff_roles", { staff_id: other.staffId, roles: ["audit"] })),
      () => failure(by(other, "set_staff_roles", { staff_id: one.staffId, roles: ["audit"] })),
    ]);
    const has = (await shown(one)).roles.includes("staff");
    t.deepEqual(codes, has ? [null, ROLE_REQUIRED] : [ROLE_REQUIRED, null]);
    t.is((await shown(other)).roles.includes("staff"), !has);
    return has ? "one has it" : "the other has it";
  },
);

pair.serial(
  "a member revokes an own key and is removed",
  ["revoked first", "removed first"],
  async (contention, t) => {
    const member = await newMember();
    await by(member, "create_staff_key", { name: newName(), role: "operator" });
    const [{ key_id }] = await keysOf(member);
    const [code] = await contention.together([
      () => failure(by(member, "revoke_staff_key", { key_id })),
      () => operate("remove_staff", { staff_id: member.staffId }),
    ]);
    if (code === null) return "revoked first";
    t.is(code, UNAUTHORIZED);
    return "removed first";
  },
);

const propose = async (command: string, values: Record<string, unknown>): Promise<string> =>
  by(await newMember(), "propose", {
    ...{ command, arguments: JSON.stringify(values), reason: "asked for" },
  });

pair.serial(
  "a deposit is approved while its user is erased: paid, or erased",
  ["paid", "erased"],
  async (contention, t) => {
    const user_id = await makeTrader({ cents: 0 });
    const proposal_id = await propose("deposit", {
      ...{ user_id, amount_cents: 5, reference: newName() },
    });
    const approver = await newMember();
    const codes = await contention.together([
      () => failure(by(approver, "approve", { proposal_id })),
      () => failure(operate("erase_user", { user_id, reason: "asked for" })),
    ]);
    const isPaid = (await exchange.balance(user_id)) === 5;
    t.deepEqual(codes, isPaid ? [null, INVALID_STATE] : [PROPOSAL_CHANGED, null]);
    return isPaid ? "paid" : "erased";
  },
);

pair.serial(
  "two erasures of a user are approved: one is carried out",
  ["one", "the other"],
  async (contention, t) => {
    const user_id = await makeTrader({ cents: 0 });
    const ids = [
      await propose("erase_user", { user_id, reason: "asked for" }),
      await propose("erase_user", { user_id, reason: "asked for again" }),
    ];
    const approvers = [await newMember(), await newMember()];
    const codes = await contention.together(
      ids.map((proposal_id, i) => () => failure(by(approvers[i]!, "approve", { proposal_id }))),
    );
    const isFirst = codes[0] === null;
    t.deepEqual(codes, isFirst ? [null, PROPOSAL_CHANGED] : [PROPOSAL_CHANGED, null]);
    return isFirst ? "one" : "the other";
  },
);

pair.serial(
  "a member rejects the proposal to remove that member while it is approved",
  ["rejected", "removed"],
  async (contention, t) => {
    const member = await newMember();
    const proposal_id = await propose("remove_staff", { staff_id: member.staffId });
    const approver = await newMember();
    const [approved, rejected] = await contention.together([
      () => failure(by(approver, "approve", { proposal_id })),
      () => failure(by(member, "reject", { proposal_id, reason: "no" })),
    ]);
    const isRemoved = (await shown(member)).removed_at !== null;
    if (!isRemoved) {
      t.deepEqual([approved, rejected], [INVALID_STATE, null]);
      return "rejected";
    }
    t.is(approved, null);
    t.true(rejected === UNAUTHORIZED || rejected === INVALID_STATE);
    return "removed";
  },
);

test.serial("a removal waits for an open transaction of the member, and sees it", async (t) => {
  const member = await newMember();
  const client = await pool.connect();
  await client.query("begin");
  await client.query("select set_config('exchange.credential', $1, true)", [
    member.cookieHash.toString("hex"),
  ]);
  const name = newName();
  await client.query("select admin.create_staff_key(name => $1, role => 'operator')", [name]);
  let isOver = false;
  const removal = operate("remove_staff", { staff_id: member.staffId }).then(() => {
    isOver = true;
  });
  await until("the removal waits", () => isWaiting(exchange, "remove_staff"));
  t.false(isOver);
  await client.query("commit");
  client.release();
  await removal;
  t.not((await shown(member)).removed_at, null);
  t.is(await failure(by(member, "create_staff_key", { name, role: "analyst" })), UNAUTHORIZED);
  t.is(await failure(operate("remove_staff", { staff_id: member.staffId })), NOT_FOUND);
});

test.serial.after("the ledger is sound", async (t) => {
  t.deepEqual(await exchange.verify(), []);
});
