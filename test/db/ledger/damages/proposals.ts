import { callBy, makeStaff } from "../../../helpers/exchange/staff.ts";
import type { Exchange } from "../../../helpers/exchange/test_exchange.ts";
import type { Damage } from "./damage.ts";
import type { Named } from "./history.ts";

/** One proposal is approved, another one too, a third is rejected; and there is a rule. */
export async function proposeALittle(exchange: Exchange): Promise<Named> {
  const operators = exchange.database.connectAs("exchange_operator", { max: 1 });
  const [one, other] = [await makeStaff(exchange, ["staff"]), await makeStaff(exchange, ["staff"])];
  await makeStaff(exchange, ["cash"]);
  await makeStaff(exchange, ["cash"]);
  const ids: number[] = [];
  for (const verdict of ["approve", "approve", "reject"]) {
    const proposal_id = await callBy(operators, one.cookieHash, "propose", {
      command: "set_staff_roles",
      arguments: JSON.stringify({ staff_id: other.staffId, roles: ["staff"] }),
      reason: "a new task",
    });
    const reason = verdict === "reject" ? { reason: "not this one" } : {};
    await callBy(operators, other.cookieHash, verdict, { proposal_id, ...reason });
    const { rows } = await exchange.database.pool.query(
      "select id from admin.proposed_calls where public_id = $1",
      [proposal_id],
    );
    ids.push(rows[0].id);
  }
  await exchange.operate("set_approval_rule", {
    ...{ command: "pay_out_fees", role: "cash", from_cents: 1000 },
  });
  await operators.end();
  const [approved = 0, alsoApproved = 0, rejected = 0] = ids;
  return { approved, alsoApproved, rejected };
}

const logOf = (name: string) =>
  `arguments ->> 'proposal_id'
     = (select public_id::text from admin.proposed_calls where id = :${name})`;

const carriedOut = [
  "delete from admin.audit_log where proposal_id = :approved",
  "update admin.audit_log set proposal_id = null where proposal_id = :approved",
  "update admin.audit_log set proposal_id = :approved where proposal_id = :alsoApproved",
  "update admin.audit_log set proposal_id = :rejected where proposal_id = :approved",
  `update admin.audit_log
   set staff_id = (select proposed_by from admin.proposed_calls where id = :approved)
   where proposal_id = :approved`,
  "update admin.audit_log set action = 'deposit' where proposal_id = :approved",
];

const decided = [
  `delete from admin.audit_log where action = 'approve' and ${logOf("approved")}`,
  `delete from admin.audit_log where action = 'reject' and ${logOf("rejected")}`,
  "update admin.proposed_calls set rejection = 'another' where id = :rejected",
  `update admin.proposed_calls set status = 'open', decided_by = null, decided_at = null
   where id = :approved`,
];

const proposed = [
  `delete from admin.audit_log where action = 'propose' and ${logOf("approved")}`,
  "update admin.proposed_calls set arguments = '{}' where id = :approved",
  "update admin.proposed_calls set reason = 'another' where id = :rejected",
  `update admin.proposed_calls
   set proposed_by = (select min(id) from identity.staff where roles = '{cash}')
   where id = :approved`,
];

const rules = [
  "delete from admin.rules",
  "update admin.rules set from_cents = 5",
  "insert into admin.rules values ('deposit', 'cash')",
  "delete from admin.audit_log where action = 'set_approval_rule'",
];

const called = (action: string, given: string) =>
  `insert into admin.audit_log (operator, action, arguments) values ('x', '${action}', '${given}')`;

const unapproved = [
  called("pay_out_fees", '{"amount_cents": 1000}'),
  called("pay_out_fees", '{"amount_cents": "much"}'),
  called("end_self_exclusion", "{}"),
];

export const proposalsDamages: Damage[] = [
  ...carriedOut.map((statement): Damage => ["approved proposal was carried out", statement]),
  ...decided.map((statement): Damage => ["proposal was decided as was called for", statement]),
  ...proposed.map((statement): Damage => ["proposal is what was called for", statement]),
  ...rules.map((statement): Damage => ["approval rule is that of the last call", statement]),
  ...unapproved.map((statement): Damage => [
    "call that needs approval has its proposal",
    statement,
  ]),
  [
    "proposal was approved by another than proposed it",
    `update admin.audit_log
     set staff_id = (select proposed_by from admin.proposed_calls where id = :approved)
     where action = 'approve' and ${logOf("approved")}`,
  ],
  [
    "no proposal is being carried out",
    "update admin.proposed_calls set is_running = true where id = :rejected",
  ],
];
