import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { placeOrder } from "../api/orders.ts";
import { forgetPending, readPending } from "../api/pending_order.ts";
import { isSignedIn } from "../api/session.ts";
import { useCommand } from "../hooks/use_command.ts";
import { Notice, ProblemNotice } from "./notice.tsx";

/** Read once, when the website starts: what was being sent when this tab was left. */
const left = readPending();

/**
 * Offers to finish an order whose answer got lost with a reload. It is sent with the key that it
 * had, so it is placed once at most.
 */
export function PendingNotice(): JSX.Element | null {
  const [isOpen, setOpen] = useState(left !== undefined);
  const command = useCommand();
  if (!isOpen || left === undefined || !isSignedIn.value) return null;
  const close = (): void => {
    forgetPending();
    setOpen(false);
  };
  return (
    <div class="wide-notice">
      {command.isDone ? (
        <Notice kind="good">
          Your order in “{left.marketTitle}” is placed, once. See your{" "}
          <a href="/portfolio">portfolio</a>.{" "}
          <button type="button" class="button button-small" onClick={close}>
            Close
          </button>
        </Notice>
      ) : (
        <Notice kind="warn">
          An order in “{left.marketTitle}” was being sent when this page was left. Sending it again
          is safe: it cannot be placed twice.
          <div class="button-row">
            <button
              type="button"
              class="button button-small"
              aria-disabled={command.isBusy}
              onClick={() => void command.give(() => placeOrder(left, () => undefined))}
            >
              {command.isBusy ? "Sending…" : "Send it again"}
            </button>
            <button type="button" class="button button-small button-quiet" onClick={close}>
              Drop it
            </button>
          </div>
        </Notice>
      )}
      <ProblemNotice problem={command.problem} />
    </div>
  );
}
