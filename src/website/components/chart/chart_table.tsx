import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { HeadedTable } from "../headed_table.tsx";

interface ChartTableProps {
  /** The heads of the columns. */
  heads: string[];
  rows: () => ComponentChildren[][];
}

/** What a chart shows, as a table that opens. */
export function ChartTable({ heads, rows }: ChartTableProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      class="chart-table"
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>The same as a table</summary>
      {isOpen && (
        <div class="scroll-box" tabIndex={0} role="region" aria-label="Table of the chart">
          <HeadedTable heads={heads} rows={rows()} />
        </div>
      )}
    </details>
  );
}
