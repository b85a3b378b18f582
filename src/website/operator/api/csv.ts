/** Files for spreadsheets. */

/** Spreadsheets take such a cell for a formula, also behind white space or in full width. */
const formula = /^(?:[\t\r]|\s*[=+\-@＝＋－＠])/;
const plainNumber = /^-?\d+(?:\.\d+)?$/;

/** A cell that no spreadsheet runs. */
export function csvCell(text: string): string {
  const safe = formula.test(text) && !plainNumber.test(text) ? `'${text}` : text;
  // Elsewhere the semicolon divides cells.
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}
