import { callBy, makeStaff } from "../../../helpers/exchange/staff.ts";
import type { Exchange } from "../../../helpers/exchange/test_exchange.ts";
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
