import type { JSX } from "preact";
import { cancelOrder, cancelOrders } from "../../api/orders.ts";
import type { Portfolio } from "../../api/types.ts";
import { formatCents, formatCount, formatDateTime, formatPrice } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { ProblemNotice } from "../notice.tsx";
import { Empty } from "../states.tsx";

type OpenOrder = Portfolio["openOrders"][number];

/** The user's orders that wait, in all markets. */
export function OpenOrders({ orders }: { orders: OpenOrder[] }): JSX.Element {
  const command = useCommand();
  return (
    <section class="panel" aria-labelledby="open-orders-title">
      <div class="panel-head">
        <h2 id="open-orders-title">Open orders</h2>
        {orders.length > 1 && (
          <button
            type="button"
            class="button button-small"
            aria-disabled={command.isBusy}
            onClick={() => void command.give(() => cancelOrders(orders.map(({ id }) => id)))}
          >
            {command.isBusy ? "Cancelling…" : `Cancel all ${orders.length}`}
          </button>
        )}
      </div>
      <ProblemNotice problem={command.problem} />
      {orders.length === 0 ? (
        <Empty title="No open orders" />
      ) : (
        <div class="table-box" tabIndex={0} role="region" aria-label="Table of open orders">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Market</th>
                <th scope="col" class="wide-only">
                  Order
                </th>
                <th scope="col">Price</th>
                <th scope="col">Filled</th>
                <th scope="col" class="wide-only">
                  Since
                </th>
                <th scope="col">
                  <span class="unseen">Cancel</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {orders.map((order) => (
                <OrderRow key={order.id} order={order} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function OrderRow({ order }: { order: OpenOrder }): JSX.Element {
  const { id, marketId, marketTitle, orderType, side, quantity, filledQuantity } = order;
  const command = useCommand();
  const name = `${orderType === "buy" ? "Buy" : "Sell"} ${side.toUpperCase()}`;
  return (
    <tr>
      <th scope="row">
        <a href={`/markets/${marketId}`}>{marketTitle}</a>
        <span class="narrow-only hint">
          <span class={`tone-${side}`}>{name}</span>
          {order.status === "scheduled" && " · being released"}
        </span>
        {command.problem !== undefined && <ProblemNotice problem={command.problem} />}
      </th>
      <td class={`wide-only tone-${side}`}>{name}</td>
      <td>{termsOf(order)}</td>
      <td>
        {formatCount(filledQuantity)} / {formatCount(quantity)}
      </td>
      <td class="wide-only">
        {order.status === "scheduled" ? "Being released" : formatDateTime(order.createdAt)}
      </td>
      <td>
        <button
          type="button"
          class="button button-small"
          aria-disabled={command.isBusy}
          aria-label={`Cancel ${name} in ${marketTitle}`}
          onClick={() => void command.give(() => cancelOrder(id))}
        >
          Cancel
        </button>
      </td>
    </tr>
  );
}

function termsOf(order: OpenOrder): string {
  const budget = "budgetCents" in order ? order.budgetCents : null;
  return budget === null ? formatPrice(order.price) : `Budget ${formatCents(budget)}`;
}
