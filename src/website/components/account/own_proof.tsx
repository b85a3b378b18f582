import type { JSX } from "preact";
import { faultOf } from "../../api/balance_proof.ts";
import { ownApi, publicApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import type { Result } from "../../api/result.ts";
import type { OwnProof } from "../../api/types.ts";
import { formatCents, formatDateTime } from "../../format.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { Notice } from "../notice.tsx";
import { Show } from "../states.tsx";

/** What is known of the user's cash in the last proof. */
type Checked =
  | { kind: "none" | "later" | "unable" }
  | { kind: "checked"; proof: OwnProof; fault: string | undefined };

/** Whether the user's cash is in the published total, computed here. */
export function OwnProofOutcome({ userId }: { userId: string }): JSX.Element {
  const checked = useAsked(() => check(userId), [userId]);
  return <Show asked={checked}>{(found) => <Outcome found={found} />}</Show>;
}

function Outcome({ found }: { found: Checked }): JSX.Element {
  switch (found.kind) {
    case "none":
      return <p class="muted">No proof was published yet.</p>;
    case "later":
      return <p class="muted">Your account is newer than the last proof. The next one has it.</p>;
    case "unable":
      return (
        <Notice kind="warn">
          This browser computes it only at an address that begins with https.
        </Notice>
      );
    case "checked": {
      const { balanceCents, publishedAt, root, totalCents } = found.proof;
      const words = `${formatCents(balanceCents)} at ${formatDateTime(publishedAt)}`;
      const total = formatCents(totalCents);
      return (
        <>
          {found.fault === undefined ? (
            <Notice kind="good">
              Your balance of {words} is in the published total of {total}.
            </Notice>
          ) : (
            <Notice kind="bad">
              This does not show that your balance of {words} is in the published total of {total}.{" "}
              {found.fault} Ask the operator, and show others the root.
            </Notice>
          )}
          <p class="hint" id="proof-root">
            The root. Others have the same.
          </p>
          <code class="key" aria-labelledby="proof-root">
            {root}
          </code>
        </>
      );
    }
  }
}

async function check(userId: string, isSecondTry = false): Promise<Result<Checked>> {
  const last = await resultOf(publicApi.GET("/api/v1/proofs/balances"));
  if (!last.ok) return last;
  if (last.data.root === null) return { ok: true, data: { kind: "none" } };
  const own = await resultOf(ownApi.GET("/api/v1/me/proof"));
  if (!own.ok) {
    return own.problem.status === 404 ? { ok: true, data: { kind: "later" } } : own;
  }
  // At other addresses browsers have no such functions.
  if (!isSecureContext) return { ok: true, data: { kind: "unable" } };
  const proof = own.data;
  const { root, totalCents, publishedAt } = last.data;
  const isSame =
    proof.root === root && proof.totalCents === totalCents && proof.publishedAt === publishedAt;
  // A new proof may have come between the two answers.
  if (!isSame && !isSecondTry) return await check(userId, true);
  const fault = isSame
    ? await faultOf(proof, userId)
    : `Everybody else sees the root ${root} of ${formatDateTime(publishedAt ?? "")}, or another total.`;
  return { ok: true, data: { kind: "checked", proof, fault } };
}
