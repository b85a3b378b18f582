/** Spreadsheets take such a text for a formula, also behind white space or in full width. */
const formula = /^(?:[\t\r]|\s*[=+\-@＝＋－＠])/;

/** A text as a field of CSV that no spreadsheet runs. In some countries the semicolon divides fields. */
export function csvField(text: string): string {
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
