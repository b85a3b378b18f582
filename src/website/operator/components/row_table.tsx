import type { JSX } from "preact";
import type { Row } from "../views/query.ts";
import type { Column } from "../views/view.ts";
import { Cell, isNumber } from "./cell.tsx";

interface RowTableProps {
  label: string;
  columns: readonly Column[];
  rows: readonly Row[];
  head?: (column: Column) => JSX.Element;
}

/** Rows of a command or of a list. */
export function RowTable({ label, columns, rows, head = plainHead }: RowTableProps): JSX.Element {
  return (
    <div class="table-box" role="region" aria-label={label} tabIndex={0}>
      <table class="table data-table">
        <thead>
          <tr>{columns.map((column) => head(column))}</tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {columns.map((column) => (
                <td key={column.field} class={isNumber(column.kind) ? "at-end" : ""}>
                  <Cell column={column} row={row} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The head of a column by which nothing is sorted. */
export function plainHead({ field, label, kind }: Column): JSX.Element {
  return (
    <th key={field} scope="col" class={isNumber(kind) ? "at-end" : ""}>
      {label}
    </th>
  );
}
