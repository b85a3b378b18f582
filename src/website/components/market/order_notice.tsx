import type { JSX } from "preact";
import { ownApi } from "../../api/client.ts";
import { ownVersion } from "../../api/own_changes.ts";
import { resultOf } from "../../api/result.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useEvery } from "../../hooks/use_every.ts";
import { Notice } from "../notice.tsx";
import { outcomeWords } from "../order_words.ts";
import type { Outcome } from "../order_words.ts";

/** The user's stream says when to ask; this is for when it is lost. */
const READ_EVERY_MS = 10_000;

interface OrderNoticeProps {
  id: string;
  /** The order as the command answered. */
  first: Outcome;
  /** What to say before what became of it. */
  prefix?: string;
}

/** What became of an order. It follows the order, and goes when another one took its place. */
export function OrderNotice({ id, first, prefix }: OrderNoticeProps): JSX.Element | null {
  const order = useAsked(
    () => resultOf(ownApi.GET("/api/v1/orders/{id}", { params: { path: { id } } })),
    [id, ownVersion.value],
  );
  const isOver = order.data?.status === "filled" || order.data?.status === "cancelled";
  useEvery(READ_EVERY_MS, () => {
    if (!isOver) order.askAgain();
  });
  const now: Outcome = order.data ?? first;
  if (now.cancelReason === "user_amended") return null;
  const isUseless = now.status === "cancelled" && now.filledQuantity === 0;
  return (
    <Notice kind={now.status === "scheduled" || isUseless ? "info" : "good"}>
      {prefix !== undefined && `${prefix} `}
      {outcomeWords(now)}
    </Notice>
  );
}
