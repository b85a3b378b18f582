import type { JSX } from "preact";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import { formatCount, formatDateTime, formatPrice } from "../../format.ts";
import { LongList } from "./long_list.tsx";
import type { Column } from "./long_list.tsx";

const columns: Column[] = [
  { name: "Time", isWide: true },
  { name: "Market" },
  { name: "Order" },
  { name: "Price" },
  { name: "Filled" },
  { name: "Average", isWide: true },
  { name: "State", isWide: true },
];

/** All orders of the user. */
export function OrdersHistory(): JSX.Element {
  return (
    <LongList
      name="Orders"
      columns={columns}
      ask={(cursor) => {
        const query = cursor === undefined ? {} : { cursor };
        return resultOf(ownApi.GET("/api/v1/me/order-history", { params: { query } }));
      }}
      row={(order) => (
        <>
          <td class="wide-only">{formatDateTime(order.createdAt)}</td>
          <th scope="row">
            <a href={`/markets/${order.marketId}`}>{order.marketTitle}</a>
            <span class="narrow-only hint">{wordsOf(order.status, order.cancelReason)}</span>
          </th>
          <td class={`tone-${order.side}`}>
            {order.orderType === "buy" ? "Buy" : "Sell"} {order.side.toUpperCase()}
          </td>
          <td>{formatPrice(order.price)}</td>
          <td>
            {formatCount(order.filledQuantity)} / {formatCount(order.quantity)}
          </td>
          <td class="wide-only">{formatPrice(order.averagePrice)}</td>
          <td class="wide-only">{wordsOf(order.status, order.cancelReason)}</td>
        </>
      )}
    />
  );
}

function wordsOf(status: string, cancelReason: string | null): string {
  const words = cancelReason === null ? status : `${status}: ${cancelReason}`;
  return words.replaceAll("_", " ");
}
