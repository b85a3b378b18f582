import { csvField } from "../csv_field.ts";

/** Files for spreadsheets. */

const plainNumber = /^-?\d+(?:\.\d+)?$/;

/** A cell: a number as it is, a text so that no spreadsheet runs it. */
export function csvCell(text: string): string {
  return plainNumber.test(text) ? text : csvField(text);
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}
