import type { JSX } from "preact";
import { ownApi } from "../../api/client.ts";
import { readTitles, titleOf } from "../../api/market_titles.ts";
import { jsonResultOf } from "../../api/result.ts";
import { formatCents, formatChange, formatDateTime } from "../../format.ts";
import { CsvButton } from "./csv_button.tsx";
import { LongList } from "./long_list.tsx";
import type { Column } from "./long_list.tsx";
import { kindWords } from "./words.ts";

const columns: Column[] = [
  { name: "Time", isWide: true },
  { name: "What" },
  { name: "Amount" },
  { name: "Cash after" },
];

/** Every change of the user's cash, from the ledger. */
export function StatementHistory(): JSX.Element {
  return (
    <>
      <CsvButton path="/api/v1/me/statement" fileName="statement.csv" />
      <LongList
        name="Statement"
        columns={columns}
        ask={async (query) => {
          const params = { params: { query } };
          const page = await jsonResultOf(ownApi.GET("/api/v1/me/statement", params));
          if (page.ok) await readTitles(page.data.data.map(({ marketId }) => marketId));
          return page;
        }}
        row={(entry) => {
          const { marketId, reference, createdAt } = entry;
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
