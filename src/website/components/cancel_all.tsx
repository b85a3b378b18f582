import type { JSX } from "preact";
import { cancelAllOrders } from "../api/orders.ts";
import { useCommand } from "../hooks/use_command.ts";
import { ProblemNotice } from "./notice.tsx";

/** The most that the server lists. */
const MOST_LISTED = 200;

interface CancelAllProps {
  /** The open orders that are shown. */
  orders: readonly { id: string }[];
  /** Without it, those of all markets are cancelled. */
  marketId?: string;
}

/** Cancels all open orders, also those that are not in a list that is full. */
export function CancelAll({ orders, marketId }: CancelAllProps): JSX.Element | null {
  const command = useCommand();
  const ids = orders.map(({ id }) => id);
  if (ids.length < 2 && command.problem === undefined) return null;
  return (
    <>
      {ids.length >= MOST_LISTED && (
        <p class="hint">These are the newest {MOST_LISTED} open orders; there may be more.</p>
      )}
      <ProblemNotice problem={command.problem} />
      <button
        type="button"
        class="button button-small"
        aria-disabled={command.isBusy}
        onClick={() => void command.give(() => cancelAllOrders(ids, marketId))}
      >
        {command.isBusy
          ? "Cancelling…"
          : `Cancel all orders${marketId === undefined ? "" : " in this market"}`}
      </button>
    </>
  );
}
