import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { isCancelledByUser, isReplaced } from "../../api/answered_orders.ts";
import { ownAnswer, versionOfOrder } from "../../api/own_changes.ts";
import { resultOf } from "../../api/result.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { Notice } from "../notice.tsx";
import { outcomeWords } from "../order_words.ts";
import type { Outcome } from "../order_words.ts";
import { isComplete, isFinal } from "./answered_outcome.ts";

interface OrderNoticeProps {
  id: string;
  /** The order as the command answered. */
  first: Outcome;
  /** What to say before what became of it. */
  prefix?: string;
}

/**
 * What became of an order. It is read only where the answer does not say it, and when it may have
 * changed. The notice goes when another order took its place.
 */
export function OrderNotice({ id, first, prefix }: OrderNoticeProps): JSX.Element | null {
  const version = versionOfOrder(id);
  const hasSuccessor = useHasSuccessor(id);
  const known = useRef({ version, outcome: first });
  const order = useAsked<Outcome>(async () => {
    const { version: before, outcome } = known.current;
    const isKnown = isComplete(outcome) && (isFinal(outcome) || version === before);
    if (isKnown || hasSuccessor) return { ok: true, data: outcome };
    const params = { path: { id } };
    const result = await resultOf(ownApi.GET("/api/v1/orders/{id}", { params }));
    if (result.ok) known.current = { version, outcome: result.data };
    return result;
  }, [id, version]);
  const now = order.data ?? first;
  if (hasSuccessor || now.cancelReason === "user_amended") return null;
  const isUseless = now.status === "cancelled" && now.filledQuantity === 0;
  return (
    <Notice kind={now.status === "scheduled" || isUseless ? "info" : "good"}>
      {prefix !== undefined && `${prefix} `}
      {outcomeWords(now, isCancelledByUser(id))}
    </Notice>
  );
}

/** Whether an amendment said that another order took the place of this one. */
function useHasSuccessor(id: string): boolean {
  const hasSuccessor = useRef(false);
  // In the same picture as what became of the other order: an effect would come after it.
  const changed = ownAnswer.value?.changed ?? [];
  if (changed.some((change) => change.id === id && isReplaced(change))) hasSuccessor.current = true;
  return hasSuccessor.current;
}
