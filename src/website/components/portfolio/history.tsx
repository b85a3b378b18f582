import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Choice } from "../choice.tsx";
import { FillsHistory } from "./fills_history.tsx";
import { OrdersHistory } from "./orders_history.tsx";
import { StatementHistory } from "./statement_history.tsx";
import { YearHistory } from "./year_statement.tsx";

const kinds = [
  { value: "fills", label: "Trades" },
  { value: "orders", label: "Orders" },
  { value: "statement", label: "Statement" },
  { value: "year", label: "Tax year" },
] as const;

type Kind = (typeof kinds)[number]["value"];

const lists: Record<Kind, () => JSX.Element> = {
  fills: FillsHistory,
  orders: OrdersHistory,
  statement: StatementHistory,
  year: YearHistory,
};

/** What happened on the account. */
export function History(): JSX.Element {
  const [kind, setKind] = useState<Kind>("fills");
  const List = lists[kind];
  return (
    <section class="panel" aria-labelledby="history-title">
      <div class="panel-head">
        <h2 id="history-title">History</h2>
        <Choice label="Show" value={kind} options={kinds} onChange={setKind} />
      </div>
      <List key={kind} />
    </section>
  );
}
