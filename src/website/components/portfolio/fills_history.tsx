import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { readTitles, titleOf } from "../../api/market_titles.ts";
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
import { readUndone, undoneWords } from "./undone.ts";
import type { Undone } from "./undone.ts";

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
  const [undone] = useState<Undone>(() => new Map());
  const oldest = useRef<string>(undefined);
  // What undid a trade is newer than it. What undid those of a further page may also be as new as
  // the pages before, and was read with these.
  const readUndoneSince = async (from: string | undefined, isFurther: boolean): Promise<void> => {
    if (from === undefined) return;
    const to = isFurther ? oldest.current : undefined;
    await readUndone(undone, { from, ...(to !== undefined && { to }) });
    if (oldest.current === undefined || from < oldest.current) oldest.current = from;
  };
  return (
    <>
      <CsvButton path="/api/v1/me/fills" fileName="trades.csv" />
      <LongList
        name="Trades"
        columns={columns}
        ask={async (query) => {
          const page = await jsonResultOf(ownApi.GET("/api/v1/me/fills", { params: { query } }));
          if (!page.ok) return page;
          const { data } = page.data;
          await Promise.all([
            readTitles(data.map(({ marketId }) => marketId)),
            readUndoneSince(data.at(-1)?.createdAt, query.cursor !== undefined),
          ]);
          return page;
        }}
        row={(fill) => {
          const { id, marketId, side, quantity, price, feeCents, cashCents, createdAt } = fill;
          const undoneOn = undoneWords(undone, { tradeId: id, marketId });
          const name = `${fill.orderType === "buy" ? "Bought" : "Sold"} ${side.toUpperCase()}`;
          return (
            <>
              <td class="wide-only">{formatDateTime(createdAt)}</td>
              <th scope="row">
                <a href={`/markets/${marketId}`}>{titleOf(marketId)}</a>
                {undoneOn !== undefined && <span class="second-line hint">{undoneOn}</span>}
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
