import type { ComponentChildren, JSX } from "preact";

interface HeadedTableProps {
  /** The heads of the columns. */
  heads: string[];
  /** The first cell of a row is its head. */
  rows: ComponentChildren[][];
  class?: string;
}

/** A table with a head for each column and each row. */
export function HeadedTable({ heads, rows, class: name }: HeadedTableProps): JSX.Element {
  return (
    <table class={name}>
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([first, ...others], index) => (
          <tr key={index}>
            <th scope="row">{first}</th>
            {others.map((cell, at) => (
              <td key={at}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
