import type { ComponentChildren, JSX } from "preact";

/** A column of a table. */
export interface Column {
  name: string;
  /** Left out on phones, with its cells. */
  isWide?: boolean;
  /** Its head is only read out. */
  isUnseen?: boolean;
}

interface TableBoxProps {
  label: string;
  columns: Column[];
  class?: string;
  /** The rows. */
  children: ComponentChildren;
}

/** A table in a box that scrolls sideways. */
export function TableBox({ label, columns, class: name, children }: TableBoxProps): JSX.Element {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={label}>
      <table class={name === undefined ? "table" : `table ${name}`}>
        <thead>
          <tr>
            {columns.map(({ name: head, isWide, isUnseen }) => (
              <th key={head} scope="col" class={isWide === true ? "wide-only" : undefined}>
                {isUnseen === true ? <span class="unseen">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
