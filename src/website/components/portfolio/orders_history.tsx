import type { JSX } from "preact";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import { readUndone } from "../../api/undone_trades.ts";
import { formatDateTime, formatPrice } from "../../format.ts";
import type { Column } from "../table_box.tsx";
import { LongList } from "./long_list.tsx";
import { filledWords, stateWords, termsWords, undoneWords } from "./words.ts";

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
        ask={async (query) => {
          const params = { params: { query } };
          const page = await resultOf(ownApi.GET("/api/v1/me/order-history", params));
          if (!page.ok) return page;
          const traded = page.data.data.filter(({ fills }) => fills.length > 0);
          const undone = await readUndone(traded.map(({ marketId }) => marketId));
          if (!undone.ok) return undone;
          const data = page.data.data.map((order) => ({
            ...order,
            undone: undoneWords(order, undone.data),
          }));
          return { ok: true, data: { ...page.data, data } };
        }}
        row={(order) => {
          const { marketId, side, createdAt } = order;
          const name = `${order.orderType === "buy" ? "Buy" : "Sell"} ${side.toUpperCase()}`;
          return (
            <>
              <td class="wide-only">{formatDateTime(createdAt)}</td>
              <th scope="row">
                <a href={`/markets/${marketId}`}>{order.marketTitle}</a>
                {order.undone !== undefined && <span class="second-line hint">{order.undone}</span>}
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
