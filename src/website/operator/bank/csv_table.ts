/** A CSV file of a bank as a table: what separates its fields is found in the file itself. */

export interface CsvTable {
  /** The names of the columns: the first line that has as many fields as any. */
  names: string[];
  /** What comes after it, with the line in which each begins. */
  rows: { line: number; cells: string[] }[];
}

const SEPARATORS = [";", "\t", ","] as const;

/** Reads the table; a text says what is wrong. Lines before the names of the columns are left out. */
export function readTable(text: string): CsvTable | string {
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
  const first = best.findIndex(({ cells }) => cells.length === most);
  if (most < 2) return wrong ?? "The file has no columns: is it CSV?";
  return { names: best[first]?.cells ?? [], rows: best.slice(first + 1) };
}

function rowsOf(text: string, separator: string): CsvTable["rows"] | string {
  const rows: CsvTable["rows"] = [];
  const field = new RegExp(
    `(?:"([^"]*(?:""[^"]*)*)"|([^"${separator}\\r\\n]*))(${separator}|\\r\\n|\\n|\\r|$)`,
    "y",
  );
  let [line, begins, cells] = [1, 1, [] as string[]];
  while (field.lastIndex < text.length || cells.length > 0) {
    const found = field.exec(text);
    if (found === null) return `Line ${line} has a quote within a field.`;
    const [, quoted, bare = "", end = ""] = found;
    cells.push((quoted?.replaceAll('""', '"') ?? bare).trim());
    if (quoted !== undefined) line += quoted.split(/\r\n|\n|\r/).length - 1;
    if (end !== separator && end !== "") line += 1;
    if (end === separator) continue;
    if (cells.some((cell) => cell !== "")) rows.push({ line: begins, cells });
    [begins, cells] = [line, []];
  }
  return rows;
}
