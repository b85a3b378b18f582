import type { JSX } from "preact";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import { formatDateTime, formatPrice } from "../../format.ts";
import { LongList } from "./long_list.tsx";
import type { Column } from "./long_list.tsx";
import { filledWords, stateWords, termsWords } from "./words.ts";

const columns: Column[] = [
  { name: "Time", isWide: true },
  { name: "Market" },
  { name: "Order", isWide: true },
  { name: "Limit" },
  { name: "Filled" },
  { name: "Average", isWide: true },
  { name: "State", isWide: true },
];

/** All orders of the user. */
export function OrdersHistory(): JSX.Element {
  return (
    <>
      <p class="hint">
        Orders have no file: what they traded is in the file of the trades, what they paid in that
        of the statement.
      </p>
      <LongList
        name="Orders"
        columns={columns}
        ask={(query) => resultOf(ownApi.GET("/api/v1/me/order-history", { params: { query } }))}
        row={(order) => {
          const { marketId, side, createdAt } = order;
          const name = `${order.orderType === "buy" ? "Buy" : "Sell"} ${side.toUpperCase()}`;
          return (
            <>
              <td class="wide-only">{formatDateTime(createdAt)}</td>
              <th scope="row">
                <a href={`/markets/${marketId}`}>{order.marketTitle}</a>
                <span class="narrow-only hint">
                  <span class={`tone-${side}`}>{name}</span> · {stateWords(order)}
                </span>
                <span class="narrow-only hint">{formatDateTime(createdAt)}</span>
              </th>
              <td class={`wide-only tone-${side}`}>{name}</td>
              <td>{termsWords(order)}</td>
              <td>{filledWords(order)}</td>
              <td class="wide-only">{formatPrice(order.averagePrice)}</td>
              <td class="wide-only">{stateWords(order)}</td>
            </>
          );
        }}
      />
    </>
  );
}
