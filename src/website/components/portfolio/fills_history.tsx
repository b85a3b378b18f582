import type { JSX } from "preact";
import { ownApi } from "../../api/client.ts";
import { jsonResultOf } from "../../api/result.ts";
import {
  formatCents,
  formatChange,
  formatCount,
  formatDateTime,
  formatPrice,
} from "../../format.ts";
import { CsvButton } from "./csv_button.tsx";
import { LongList } from "./long_list.tsx";
import type { Column } from "./long_list.tsx";

const columns: Column[] = [
  { name: "Time" },
  { name: "Trade" },
  { name: "Shares" },
  { name: "Price" },
  { name: "Fee", isWide: true },
  { name: "Cash" },
  { name: "Cash after", isWide: true },
];

/** The user's trades. */
export function FillsHistory(): JSX.Element {
  return (
    <>
      <CsvButton path="/api/v1/me/fills" fileName="trades.csv" />
      <LongList
        name="Trades"
        columns={columns}
        ask={(cursor) => {
          const query = cursor === undefined ? {} : { cursor };
          return jsonResultOf(ownApi.GET("/api/v1/me/fills", { params: { query } }));
        }}
        row={(fill) => (
          <>
            <td>{formatDateTime(fill.createdAt)}</td>
            <th scope="row">
              <a href={`/markets/${fill.marketId}`}>
                {fill.orderType === "buy" ? "Bought" : "Sold"} {fill.side.toUpperCase()}
              </a>
            </th>
            <td>{formatCount(fill.quantity)}</td>
            <td>{formatPrice(fill.price)}</td>
            <td class="wide-only">{formatCents(fill.feeCents)}</td>
            <td>{formatChange(fill.cashCents)}</td>
            <td class="wide-only">{formatCents(fill.balanceAfter)}</td>
          </>
        )}
      />
    </>
  );
}
