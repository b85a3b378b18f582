import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { cancelOrder } from "../../api/orders.ts";
import type { Order } from "../../api/types.ts";
import { formatCount, formatDateTime, formatPrice } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { ProblemNotice } from "../notice.tsx";
import { AmendForm } from "./amend_form.tsx";
import { Countdown } from "./countdown.tsx";

interface OwnOrdersProps {
  orders: Order[];
  /** When the server was asked, by this page's clock. */
  readAt: number;
}

/** The user's open orders in a market, each with what can be done about it. */
export function OwnOrders({ orders, readAt }: OwnOrdersProps): JSX.Element {
  if (orders.length === 0) return <p class="muted">No open orders in this market.</p>;
  return (
    <ul class="own-orders">
      {orders.map((order) => (
        <OwnOrder key={order.id} order={order} readAt={readAt} />
      ))}
    </ul>
  );
}

function OwnOrder({ order, readAt }: { order: Order; readAt: number }): JSX.Element {
  const [isAmending, setAmending] = useState(false);
  const command = useCommand();
  const changeButton = useRef<HTMLButtonElement>(null);
  const name = nameOf(order);
  return (
    <li class="own-order">
      <div class="own-order-line">
        <div>
          <p class="own-order-name">
            <span class={`tone-${order.side}`}>{name}</span>
          </p>
          <p class="hint">
            {order.status === "scheduled" && order.releaseInMs !== null ? (
              <Countdown releaseInMs={order.releaseInMs} readAt={readAt} />
            ) : (
              progressOf(order)
            )}
          </p>
        </div>
        <div class="button-row">
          {order.budgetCents === null && (
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
            onClick={() => void command.give(() => cancelOrder(order.id))}
          >
            {command.isBusy ? "Cancelling…" : "Cancel"}
          </button>
        </div>
      </div>
      {isAmending && (
        <AmendForm
          order={order}
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

function nameOf({ orderType, side, price, quantity }: Order): string {
  const verb = orderType === "buy" ? "Buy" : "Sell";
  return `${verb} ${formatCount(quantity)} ${side.toUpperCase()} at ${formatPrice(price)}`;
}

function progressOf({ filledQuantity, quantity, sharesAhead, expiresAt }: Order): string {
  const parts = [`${formatCount(filledQuantity)} of ${formatCount(quantity)} filled`];
  parts.push(sharesAhead === 0 ? "first in the queue" : `${formatCount(sharesAhead)} ahead`);
  if (expiresAt !== null) parts.push(`until ${formatDateTime(expiresAt)}`);
  return parts.join(" · ");
}
