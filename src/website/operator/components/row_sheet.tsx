import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { saveFile } from "../../save_file.ts";
import { csvLine } from "../../csv.ts";
import { showTime } from "../api/values.ts";
import type { Arguments, Command } from "../commands/command.ts";
import { headsOf, plainValues } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import { RowTable } from "./row_table.tsx";

interface RowSheetProps {
  command: Command;
  given: Arguments;
  rows: readonly Row[];
  /** Whom or what the page is about. */
  about: string | undefined;
  /** The name of its files, without the ending. */
  file: string;
}

/** Rows that a command returned: to read, to save as a file, and to print by themselves. */
export function RowSheet({ command, given, rows, about, file }: RowSheetProps): JSX.Element {
  const { title, fields, columns = [] } = command;
  const sheet = useRef<HTMLDivElement>(null);
  const print = (): void => {
    // The style of prints shows nothing else of the page. Some browsers print later.
    const printed = sheet.current;
    printed?.classList.add("printed");
    const end = (): void => {
      printed?.classList.remove("printed");
    };
    window.addEventListener("afterprint", end, { once: true });
    window.print();
  };
  const saveCsv = (): void => {
    const lines = rows.map((row) => csvLine(columns.flatMap((column) => plainValues(column, row))));
    saveFile(
      new Blob([csvLine(columns.flatMap(headsOf)), ...lines], { type: "text/csv" }),
      `${file}.csv`,
    );
  };
  const saveJson = (): void => {
    const text = JSON.stringify({ ...given, rows }, null, 2);
    saveFile(new Blob([text], { type: "application/json" }), `${file}.json`);
  };
  return (
    <div class="sheet" ref={sheet}>
      <div class="print-only">
        <h1>{about === undefined ? title : `${title}: ${about}`}</h1>
        <ul>
          {fields
            .filter(
              ({ argument, kind }) =>
                kind !== "json" && kind !== "entries" && given[argument] !== undefined,
            )
            .map(({ argument, label }) => (
              <li key={argument}>
                {label}: {String(given[argument])}
              </li>
            ))}
          <li>Made {showTime(new Date().toISOString())}</li>
        </ul>
      </div>
      <RowTable label={`${title}: rows`} columns={columns} rows={rows} />
      <p class="data-foot no-print">
        <button type="button" class="button button-small" onClick={saveCsv}>
          CSV
        </button>
        <button type="button" class="button button-small" onClick={saveJson}>
          JSON
        </button>
        <button type="button" class="button button-small" onClick={print}>
          Print
        </button>
      </p>
    </div>
  );
}
