import type { ComponentChildren, JSX } from "preact";
import { account } from "../api/account.ts";
import { adviceOn } from "../api/advice.ts";
import { placeOrder, stopTrying } from "../api/orders.ts";
import { forgetPending, isKnownThere, pendingOrders } from "../api/pending_order.ts";
import type { PendingEntry, PendingOrder } from "../api/pending_order.ts";
import { isSignedIn, session } from "../api/session.ts";
import { Notice } from "./notice.tsx";
import { orderWords } from "./order_words.ts";

/**
 * On every page: the user's orders without an answer, each with what can be done about it. They are
 * sent with the key that they have, so they are placed once at most.
 */
export function PendingNotice(): JSX.Element | null {
  const own = account.value?.id;
  if (!isSignedIn.value || own === undefined) return null;
  const entries = pendingOrders.value.filter(
    ({ pending, state, isWatched }) => isOf(own, pending) && !(state === "sending" && isWatched),
  );
  if (entries.length === 0) return null;
  return (
    <div class="wide-notice stack">
      {entries.map((entry) => (
        <Entry key={entry.pending.idempotencyKey} entry={entry} />
      ))}
    </div>
  );
}

function isOf(own: string, { userId, session: sentIn }: PendingOrder): boolean {
  return userId === undefined ? sentIn === session.value : userId === own;
}

function Entry({ entry }: { entry: PendingEntry }): JSX.Element {
  const { pending, state, problem } = entry;
  const key = pending.idempotencyKey;
  const words = `“${orderWords(pending.order)}” in “${pending.marketTitle}”`;
  const close = (label: string): JSX.Element => (
    <Action
      label={label}
      onClick={() => {
        forgetPending(key);
      }}
    />
  );
  const again = isKnownThere(pending) && (
    <Action
      label="Send it again"
      onClick={() => {
        // The notice may have stood there for a day.
        if (isKnownThere(pending)) void placeOrder(pending, { isWatched: false });
      }}
    />
  );
  const ofSendingAgain =
    again === false
      ? "It was sent too long ago to be sent again."
      : "Sending it again is safe: it cannot be placed twice.";
  if (state === "placed") {
    return (
      <Box kind="good" actions={close("Close")}>
        Your order {words} is placed, once. See your <a href="/portfolio">portfolio</a>.
      </Box>
    );
  }
  if (state === "refused") {
    return (
      <Box kind="bad" actions={close("Close")}>
        Your order {words} was not placed. {problem && adviceOn(problem).text}
      </Box>
    );
  }
  if (state === "left") {
    return (
      <Box
        kind="warn"
        actions={
          <>
            {again}
            {close("Drop it")}
          </>
        }
      >
        Your order {words} was being sent when this page was left. It may have been placed: see your{" "}
        <a href="/portfolio">portfolio</a>. {ofSendingAgain}
      </Box>
    );
  }
  if (state === "unknown") {
    return (
      <Box
        kind="warn"
        actions={
          <>
            {again}
            {close("Close")}
          </>
        }
      >
        It is not known whether your order {words} was placed. Look at the open orders and trades of
        your <a href="/portfolio">portfolio</a> before you order anew. {ofSendingAgain}
      </Box>
    );
  }
  return (
    <Box
      kind="warn"
      actions={
        <Action
          label="Stop trying"
          onClick={() => {
            stopTrying(key);
          }}
        />
      }
    >
      Your order {words} has no answer yet. It is sent again until there is one, and placed once at
      most.
    </Box>
  );
}

interface BoxProps {
  kind: "good" | "bad" | "warn";
  actions: ComponentChildren;
  children: ComponentChildren;
}

function Box({ kind, actions, children }: BoxProps): JSX.Element {
  return (
    <Notice kind={kind}>
      <p>{children}</p>
      <div class="button-row">{actions}</div>
    </Notice>
  );
}

function Action({ label, onClick }: { label: string; onClick: () => void }): JSX.Element {
  return (
    <button type="button" class="button button-small" onClick={onClick}>
      {label}
    </button>
  );
}
