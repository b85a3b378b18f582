import type { JSX } from "preact";
import type { ListedOrder } from "../../api/answered_orders.ts";
import { cancelOrder } from "../../api/orders.ts";
import { formatDateTime } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { CancelAll } from "../cancel_all.tsx";
import { ProblemNotice } from "../notice.tsx";
import { Empty } from "../states.tsx";
import { TableBox } from "../table_box.tsx";
import type { Column } from "../table_box.tsx";
import { filledWords, termsWords, untilWords } from "./words.ts";

const columns: Column[] = [
  { name: "Market" },
  { name: "Order", isWide: true },
  { name: "Price" },
  { name: "Filled" },
  { name: "Since", isWide: true },
  { name: "Until", isWide: true },
  { name: "Change or cancel", isUnseen: true },
];

/** The user's orders that wait, in all markets. */
export function OpenOrders({ orders }: { orders: ListedOrder[] }): JSX.Element {
  return (
    <section class="panel" aria-labelledby="open-orders-title">
      <div class="panel-head">
        <h2 id="open-orders-title">Open orders</h2>
        <CancelAll orders={orders} />
      </div>
      {orders.length === 0 ? (
        <Empty title="No open orders" />
      ) : (
        <TableBox label="Table of open orders" columns={columns}>
          {orders.map((order) => (
            <OrderRow key={order.id} order={order} />
          ))}
        </TableBox>
      )}
    </section>
  );
}

function OrderRow({ order }: { order: ListedOrder }): JSX.Element {
  const { id, marketId, marketTitle, orderType, side } = order;
  const command = useCommand();
  const name = `${orderType === "buy" ? "Buy" : "Sell"} ${side.toUpperCase()}`;
  return (
    <tr>
      <th scope="row">
        <a href={`/markets/${marketId}`}>{marketTitle}</a>
        <span class="narrow-only hint">
          <span class={`tone-${side}`}>{name}</span>
          {order.status === "scheduled" && " · being released"}
          {order.expiresAt !== null && ` · until ${untilWords(order)}`}
        </span>
        {command.problem !== undefined && <ProblemNotice problem={command.problem} />}
      </th>
      <td class={`wide-only tone-${side}`}>{name}</td>
      <td>{termsWords(order)}</td>
      <td>{filledWords(order)}</td>
      <td class="wide-only">
        {order.status === "scheduled" ? "Being released" : formatDateTime(order.createdAt)}
      </td>
      <td class="wide-only">{untilWords(order)}</td>
      <td>
        {order.budgetCents === null && (
          <a
            class="button button-small wide-only"
            href={`/markets/${marketId}`}
            aria-label={`Change ${name} in ${marketTitle}`}
          >
            Change
          </a>
        )}{" "}
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
