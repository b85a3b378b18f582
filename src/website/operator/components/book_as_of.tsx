import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Field } from "../../components/field.tsx";
import { Empty } from "../../components/states.tsx";
import { Submit } from "../../components/submit.tsx";
import { useCommand } from "../../hooks/use_command.ts";
import { ask } from "../api/graphql.ts";
import { isUuid, timeOf } from "../api/values.ts";
import { count, text } from "../views/parts.ts";
import type { Row } from "../views/query.ts";
import type { Column } from "../views/view.ts";
import { StaffProblem } from "./problem.tsx";
import { RowTable } from "./row_table.tsx";

const columns: readonly Column[] = [
  text("side", "Side"),
  { field: "yesPriceCents", label: "YES price", kind: "price" },
  count("quantity", "Shares"),
  count("orderCount", "Orders"),
];

/** What the page asks for a book. It has at most two sides of 99 prices. */
const bookQuery = `query BookAsOf($marketId: UUID!, $at: Datetime!) {
  book: bookAsOf(marketId: $marketId, at: $at, first: 198) {
    nodes { ${columns.map(({ field }) => field).join(" ")} }
  }
}`;

/** The book of a market at a moment, replayed from its orders. */
export function BookAsOf(): JSX.Element {
  const [marketId, setMarketId] = useState("");
  const [typed, setTyped] = useState("");
  const [rows, setRows] = useState<Row[]>();
  const command = useCommand();
  const at = timeOf(typed);
  const show = (event: Event): void => {
    event.preventDefault();
    setRows(undefined);
    void command.give(
      () => ask<{ book: { nodes: Row[] } }>(bookQuery, { marketId: marketId.trim(), at }),
      ({ book }) => {
        setRows(book.nodes);
      },
    );
  };
  return (
    <>
      <form class="filter-form" onSubmit={show} noValidate>
        <Field label="Id of the market" name="market" value={marketId} onValue={setMarketId} />
        <Field
          {...{ label: "At (UTC)", name: "at", type: "datetime-local" }}
          value={typed}
          onValue={setTyped}
        />
        <Submit isBusy={command.isBusy} disabled={!isUuid(marketId) || at === undefined}>
          Show the book
        </Submit>
      </form>
      <StaffProblem problem={command.problem} />
      {rows?.length === 0 && <Empty title="The book was empty then." />}
      {rows !== undefined && rows.length > 0 && (
        <RowTable label="The book: rows" columns={columns} rows={rows} />
      )}
    </>
  );
}
