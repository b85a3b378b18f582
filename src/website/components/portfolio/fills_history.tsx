import type { JSX } from "preact";
import { ownApi } from "../../api/client.ts";
import { readTitles, titleOf } from "../../api/market_titles.ts";
import { jsonResultOf } from "../../api/result.ts";
import { readUndone } from "../../api/undone_trades.ts";
import {
  formatCents,
  formatChange,
  formatCount,
  formatDateTime,
  formatPrice,
} from "../../format.ts";
import type { Column } from "../table_box.tsx";
import { CsvButton } from "./csv_button.tsx";
import { LongList } from "./long_list.tsx";
import { undoneWords } from "./words.ts";

const columns: Column[] = [
  { name: "Time", isWide: true },
  { name: "Market" },
  { name: "Trade", isWide: true },
  { name: "Shares", isWide: true },
  { name: "Price", isWide: true },
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
        ask={async (query) => {
          const page = await jsonResultOf(ownApi.GET("/api/v1/me/fills", { params: { query } }));
          if (!page.ok) return page;
          const marketIds = page.data.data.map(({ marketId }) => marketId);
          const [undone] = await Promise.all([readUndone(marketIds), readTitles(marketIds)]);
          if (!undone.ok) return undone;
          const data = page.data.data.map((fill) => ({
            ...fill,
            undone: undoneWords({ marketId: fill.marketId, fills: [fill] }, undone.data),
          }));
          return { ok: true, data: { ...page.data, data } };
        }}
        row={(fill) => {
          const { marketId, side, quantity, price, feeCents, cashCents, createdAt } = fill;
          const name = `${fill.orderType === "buy" ? "Bought" : "Sold"} ${side.toUpperCase()}`;
          return (
            <>
              <td class="wide-only">{formatDateTime(createdAt)}</td>
              <th scope="row">
                <a href={`/markets/${marketId}`}>{titleOf(marketId)}</a>
                {fill.undone !== undefined && <span class="second-line hint">{fill.undone}</span>}
                <span class="narrow-only hint">
                  {name} · {formatCount(quantity)} at {formatPrice(price)} · fee{" "}
                  {formatCents(feeCents)}
                </span>
                <span class="narrow-only hint">{formatDateTime(createdAt)}</span>
              </th>
              <td class={`wide-only tone-${side}`}>{name}</td>
              <td class="wide-only">{formatCount(quantity)}</td>
              <td class="wide-only">{formatPrice(price)}</td>
              <td class="wide-only">{formatCents(feeCents)}</td>
              <td>
                {formatChange(cashCents)}
                <span class="narrow-only hint">then {formatCents(fill.balanceAfter)}</span>
              </td>
              <td class="wide-only">{formatCents(fill.balanceAfter)}</td>
            </>
          );
        }}
      />
    </>
  );
}
