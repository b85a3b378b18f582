import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { readTitles, titleOf } from "../../api/market_titles.ts";
import { jsonResultOf, resultOf } from "../../api/result.ts";
import type { StatementEntry } from "../../api/types.ts";
import { formatCents, formatChange, formatDateTime } from "../../format.ts";
import type { Column } from "../table_box.tsx";
import { CsvButton } from "./csv_button.tsx";
import { LongList } from "./long_list.tsx";
import { kindWords } from "./words.ts";

const columns: Column[] = [
  { name: "Time", isWide: true },
  { name: "What" },
  { name: "Amount" },
  { name: "Cash after" },
];

/** Every change of the user's cash, from the ledger. */
export function StatementHistory(): JSX.Element {
  // The entries that were read of each trade: itself, and what undid it.
  const [trades] = useState(() => new Map<string, TradeTimes>());
  return (
    <>
      <CsvButton path="/api/v1/me/statement" fileName="statement.csv" />
      <LongList
        name="Statement"
        columns={columns}
        ask={async (query) => {
          const params = { params: { query } };
          const page = await jsonResultOf(ownApi.GET("/api/v1/me/statement", params));
          if (!page.ok) return page;
          const { data, nextCursor } = page.data;
          for (const entry of data) noteTimes(trades, entry);
          await readTitles(data.map(({ marketId }) => marketId));
          return { ok: true, data: { data: await withEvents(data), nextCursor } };
        }}
        row={(entry) => {
          const { marketId, tradeId, event, reference, createdAt } = entry;
          const other = otherTimeWords(entry, trades.get(tradeId ?? ""));
          return (
            <>
              <td class="wide-only">{formatDateTime(createdAt)}</td>
              <th scope="row">
                {kindWords(entry)}
                {marketId !== null && (
                  <a class="second-line" href={`/markets/${marketId}`}>
                    {titleOf(marketId)}
                  </a>
                )}
                {event !== undefined && (
                  <a class="second-line" href={`/events/${event.eventId}`}>
                    {event.title}
                  </a>
                )}
                {other !== undefined && <span class="second-line hint">{other}</span>}
                {reference !== null && <span class="second-line hint">{reference}</span>}
                <span class="narrow-only hint">{formatDateTime(createdAt)}</span>
              </th>
              <td>{formatChange(entry.amountCents)}</td>
              <td>{formatCents(entry.balanceAfter)}</td>
            </>
          );
        }}
      />
    </>
  );
}

/** When a trade was made, and undone, as far as it was read. */
type TradeTimes = Partial<Record<StatementEntry["kind"], string>>;

function noteTimes(trades: Map<string, TradeTimes>, entry: StatementEntry): void {
  const { kind, tradeId, createdAt } = entry;
  if (tradeId !== null) trades.set(tradeId, { ...trades.get(tradeId), [kind]: createdAt });
}

/** Of a trade, when it was undone; of what undid it, when it was made. */
function otherTimeWords(
  { kind }: StatementEntry,
  { trade: made, void: undone }: TradeTimes = {},
): string | undefined {
  if (kind === "trade") return undone && `undone on ${formatDateTime(undone)}`;
  return made && `the trade of ${formatDateTime(made)}`;
}

interface Entry extends StatementEntry {
  /** In which shares were converted or redeemed; undefined where that could not be read. */
  event: ConversionEvent | undefined;
}

interface ConversionEvent {
  /** Of the entry. */
  id: number;
  eventId: string;
  title: string;
}

/** Adds the events of entries that belong to no market. */
async function withEvents(entries: StatementEntry[]): Promise<Entry[]> {
  const ids = entries
    .filter(({ kind }) => kind === "convert" || kind === "redeem")
    .map(({ id }) => id);
  const events = ids.length === 0 ? [] : await readEvents(ids);
  return entries.map((entry) => ({ ...entry, event: events.find(({ id }) => id === entry.id) }));
}

async function readEvents(ids: number[]): Promise<ConversionEvent[]> {
  const params = { query: { entries: ids.join(",") } };
  const answer = await resultOf(ownApi.GET("/api/account/conversion-events", { params }));
  return answer.ok ? answer.data.data : [];
}
