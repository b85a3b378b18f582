import type { JSX } from "preact";
import { Fact } from "../../components/fact.tsx";
import type { Row } from "../views/query.ts";
import type { Column } from "../views/view.ts";
import { Cell } from "./cell.tsx";

interface FactsProps {
  columns: readonly Column[];
  row: Row;
}

/** The values of one row, each with its label. */
export function Facts({ columns, row }: FactsProps): JSX.Element {
  return (
    <dl class="facts facts-wide">
      {columns.map((column) => (
        <Fact key={column.field} name={column.label}>
          <Cell column={column} row={row} />
        </Fact>
      ))}
    </dl>
  );
}
