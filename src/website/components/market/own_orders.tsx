import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { ListedOrder } from "../../api/answered_orders.ts";
import { cancelOrder } from "../../api/orders.ts";
import type { AmendedOrder } from "../../api/types.ts";
import { formatCount, formatDateTime } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { CancelAll } from "../cancel_all.tsx";
import { ProblemNotice } from "../notice.tsx";
import { orderWords } from "../order_words.ts";
import type { Outcome } from "../order_words.ts";
import { AmendForm } from "./amend_form.tsx";
import { answeredOutcome } from "./answered_outcome.ts";
import { Countdown } from "./countdown.tsx";
import { OrderNotice } from "./order_notice.tsx";

interface OwnOrdersProps {
  orders: ListedOrder[];
  marketId: string;
  /** Whether the user may place orders: all can be cancelled. */
  mayChange: boolean;
  /** When the server was asked, by this page's clock. */
  readAt: number;
}

/** The user's open orders in a market, each with what can be done about it. */
export function OwnOrders({ orders, marketId, mayChange, readAt }: OwnOrdersProps): JSX.Element {
  const [amended, setAmended] = useState<AmendedOrder>();
  return (
    <>
      {orders.length === 0 ? (
        <p class="muted">No open orders in this market.</p>
      ) : (
        <ul class="own-orders">
          {orders.map((order) => (
            <OwnOrder key={order.id} {...{ order, mayChange, readAt }} onAmended={setAmended} />
          ))}
        </ul>
      )}
      <CancelAll {...{ orders, marketId }} />
      {amended !== undefined && (
        <OrderNotice
          key={amended.order.id}
          id={amended.order.id}
          first={outcomeOf(amended)}
          prefix={
            amended.queuePositionChanged
              ? `Changed to “${orderWords(amended.order)}”, a new order in the place of the old one.`
              : `Changed to “${orderWords(amended.order)}”, which keeps its place in the queue.`
          }
        />
      )}
    </>
  );
}

function outcomeOf(amended: AmendedOrder): Outcome {
  if (amended.queuePositionChanged) return answeredOutcome(amended);
  // What it traded before, the answer does not say.
  return { ...amended.order, averagePrice: null, feeCents: null };
}

interface OwnOrderProps {
  order: ListedOrder;
  mayChange: boolean;
  readAt: number;
  /** Undefined: something else was done after the last amendment. */
  onAmended: (amended: AmendedOrder | undefined) => void;
}

function OwnOrder({ order, mayChange, readAt, onAmended }: OwnOrderProps): JSX.Element {
  const [isAmending, setAmending] = useState(false);
  const command = useCommand();
  const changeButton = useRef<HTMLButtonElement>(null);
  const name = orderWords(order);
  return (
    <li class="own-order">
      <div class="own-order-line">
        <div>
          <p class="own-order-name">
            <span class={`tone-${order.side}`}>{name}</span>
          </p>
          <p class="hint">
            {order.status === "scheduled" && order.releaseInMs !== null ? (
              <Countdown releaseInMs={order.releaseInMs} readAt={order.answeredAt ?? readAt} />
            ) : (
              progressOf(order)
            )}
          </p>
        </div>
        <div class="button-row">
          {mayChange && order.budgetCents === null && (
            <button
              type="button"
              class="button button-small"
              ref={changeButton}
              aria-expanded={isAmending}
              aria-label={`Change: ${name}`}
              onClick={() => {
                setAmending(!isAmending);
              }}
            >
              Change
            </button>
          )}
          <button
            type="button"
            class="button button-small"
            aria-disabled={command.isBusy}
            aria-label={`Cancel: ${name}`}
            onClick={() => {
              onAmended(undefined);
              void command.give(() => cancelOrder(order.id));
            }}
          >
            {command.isBusy ? "Cancelling…" : "Cancel"}
          </button>
        </div>
      </div>
      {isAmending && (
        <AmendForm
          order={order}
          onAmended={onAmended}
          onDone={() => {
            changeButton.current?.focus();
            setAmending(false);
          }}
        />
      )}
      <ProblemNotice problem={command.problem} />
    </li>
  );
}

function progressOf({ filledQuantity, quantity, sharesAhead, expiresAt }: ListedOrder): string {
  const parts = [`${formatCount(filledQuantity)} of ${formatCount(quantity)} filled`];
  if (sharesAhead === 0) parts.push("first in the queue");
  else if (sharesAhead !== undefined) parts.push(`${formatCount(sharesAhead)} ahead`);
  if (expiresAt !== null) parts.push(`until ${formatDateTime(expiresAt)}`);
  return parts.join(" · ");
}
