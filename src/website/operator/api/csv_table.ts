/** A CSV text as a table: what separates its fields is found in the file itself. */

export interface CsvTable {
  /** The names of the columns: the first line that has as many fields as any. */
  names: string[];
  /** What comes after it, with the line in which each begins. */
  rows: { line: number; cells: string[] }[];
}

/** What is longer, wider or has more lines would keep the page busy. */
const LONGEST_FIELD = 10_000;
const MOST_COLUMNS = 200;
const MOST_LINES = 100_000;
const SEPARATORS = [";", "\t", ","] as const;

/** Reads all lines with something in them; a text says what is wrong. */
export function readRows(text: string): CsvTable["rows"] | string {
  const plain = text.replace(/^\ufeff/, "");
  let best: CsvTable["rows"] = [];
  let most = 1;
  let wrong: string | undefined;
  for (const separator of SEPARATORS) {
    const rows = rowsOf(plain, separator);
    if (typeof rows === "string") {
      wrong ??= rows;
      continue;
    }
    const width = rows.reduce((widest, { cells }) => Math.max(widest, cells.length), 0);
    if (width > most) [best, most] = [rows, width];
  }
  return most < 2 ? (wrong ?? "The file has no columns: is it CSV?") : best;
}

/** Reads the table; a text says what is wrong. Lines before the names of the columns are left out. */
export function readTable(text: string): CsvTable | string {
  const all = readRows(text);
  if (typeof all === "string") return all;
  const most = all.reduce((widest, { cells }) => Math.max(widest, cells.length), 0);
  const first = all.findIndex(({ cells }) => cells.length === most);
  return { names: all[first]?.cells ?? [], rows: all.slice(first + 1) };
}

function rowsOf(text: string, separator: string): CsvTable["rows"] | string {
  const rows: CsvTable["rows"] = [];
  const bare = new RegExp(`[^"${separator}\\r\\n]*`, "y");
  const ending = new RegExp(`${separator}|\\r\\n|\\n|\\r|$`, "y");
  let [at, line, begins, cells] = [0, 1, 1, [] as string[]];
  while (at < text.length || cells.length > 0) {
    const isQuoted = text[at] === '"';
    const end = isQuoted ? endOfQuoted(text, at) : endOf(bare, text, at);
    if (end - at > LONGEST_FIELD) {
      return `Line ${line} has a field of more than ${LONGEST_FIELD} characters.`;
    }
    const next = end === -1 ? -1 : endOf(ending, text, end);
    if (next === -1) return `Line ${line} has a quote within a field.`;
    const field = isQuoted
      ? text.slice(at + 1, end - 1).replaceAll('""', '"')
      : text.slice(at, end);
    cells.push(field.trim());
    if (cells.length > MOST_COLUMNS) return `Line ${line} has more than ${MOST_COLUMNS} columns.`;
    if (isQuoted) line += field.split(/\r\n|\n|\r/).length - 1;
    at = next;
    if (text.slice(end, next) === separator) continue;
    if (next > end) line += 1;
    if (line > MOST_LINES) return `The file has more than ${MOST_LINES} lines.`;
    if (cells.some((cell) => cell !== "")) rows.push({ line: begins, cells });
    [begins, cells] = [line, []];
  }
  return rows;
}

/** Where what matches there ends; -1: nothing does. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/**
 * The place after the quote that ends a field in quotes, or after one in it if it is too long; -1:
 * there is none. A pattern would run out of stack on many quotes.
 */
function endOfQuoted(text: string, from: number): number {
  let at = text.indexOf('"', from + 1);
  while (at !== -1 && text[at + 1] === '"' && at - from <= LONGEST_FIELD) {
    at = text.indexOf('"', at + 2);
  }
  return at === -1 ? -1 : at + 1;
}
