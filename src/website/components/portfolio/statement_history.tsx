import type { JSX } from "preact";
import { ownApi } from "../../api/client.ts";
import { jsonResultOf } from "../../api/result.ts";
import { formatCents, formatChange, formatDateTime } from "../../format.ts";
import { CsvButton } from "./csv_button.tsx";
import { LongList } from "./long_list.tsx";
import type { Column } from "./long_list.tsx";

const columns: Column[] = [
  { name: "Time" },
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
        ask={(cursor) => {
          const query = cursor === undefined ? {} : { cursor };
          return jsonResultOf(ownApi.GET("/api/v1/me/statement", { params: { query } }));
        }}
        row={(entry) => (
          <>
            <td>{formatDateTime(entry.createdAt)}</td>
            <th scope="row">
              {entry.marketId === null ? (
                entry.kind.replaceAll("_", " ")
              ) : (
                <a href={`/markets/${entry.marketId}`}>{entry.kind.replaceAll("_", " ")}</a>
              )}
              {entry.reference !== null && <span class="muted small"> {entry.reference}</span>}
            </th>
            <td>{formatChange(entry.amountCents)}</td>
            <td>{formatCents(entry.balanceAfter)}</td>
          </>
        )}
      />
    </>
  );
}
