import { readTable } from "../api/csv_table.ts";
import { centsOf, eurosOf, fieldTimeOf, isUuid, timeOf } from "../api/values.ts";
import type { Row } from "../views/query.ts";
import type { Arguments, Command, CommandField, Fields, Setting } from "./command.ts";

/** What a form has, as the arguments of a call. */

/** The arguments, or what is wrong with the fields, by their argument. */
export type Read =
  { ok: true; given: Arguments } | { ok: false; issues: Partial<Record<string, string>> };

/** The fields that a form sends: all, or those that are not as they were before. */
export function fieldsToSend(
  { fields, keepsRest, isOfSetting, sets }: Command,
  typed: Fields,
  before: Fields,
): { fields: readonly CommandField[]; isUnchanged: boolean } {
  const changed = fields.filter(
    ({ argument }) => (typed[argument] ?? "") !== (before[argument] ?? ""),
  );
  const isState = keepsRest === true || isOfSetting === true || sets !== undefined;
  return {
    fields: keepsRest === true ? changed : fields,
    isUnchanged: isState && changed.length === 0,
  };
}

/** What the fields of a command begin with: what is in force, in the row that was chosen. */
export function textsInForce(
  { fields, sets }: Pick<Command, "fields"> & { sets: Setting },
  rows: readonly Row[],
  typed: Fields,
): Fields {
  const { by } = sets;
  const row = by === undefined ? rows[0] : rows.find((one) => one[by] === typed[by]?.trim());
  const texts = fields.map((field) => {
    const { argument } = field;
    const value = argument === by ? typed[by] : row?.[argument];
    return [argument, textOf(field, value)] as const;
  });
  return Object.fromEntries(texts);
}

/** A value of a row, as a field has it. */
function textOf({ kind }: CommandField, value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "";
  if (typeof value !== "string" && typeof value !== "number") return "";
  if (kind === "cents") return eurosOf(value);
  if (typeof value === "number") return String(value);
  return kind === "time" ? fieldTimeOf(value) : value;
}

/** Reads the fields. What the page gives is no field. */
export function readArguments(
  { fields, keepsRest }: Command,
  typed: Record<string, string>,
  given: Arguments = {},
): Read {
  const issues: Record<string, string> = {};
  const read: Arguments = { ...given };
  for (const field of fields) {
    if (field.argument in given) continue;
    const text = typed[field.argument]?.trim() ?? "";
    if (keepsRest === true && text === "" && field.kind !== "flag") {
      if (field.emptied === undefined) issues[field.argument] = "This cannot be emptied here.";
      else Object.assign(read, field.emptied);
      continue;
    }
    const { neededIf } = field;
    const isNeeded = neededIf !== undefined && typed[neededIf.argument] === neededIf.is;
    const value = isNeeded && text === "" ? new Issue(neededIf.words) : valueOf(field, text);
    if (value instanceof Issue) issues[field.argument] = value.words;
    else if (value !== undefined) read[field.argument] = value;
  }
  return Object.keys(issues).length === 0 ? { ok: true, given: read } : { ok: false, issues };
}

class Issue {
  readonly words: string;

  constructor(words: string) {
    this.words = words;
  }
}

/** The value of a field; undefined if it is left out. */
function valueOf(field: CommandField, text: string): unknown {
  if (field.kind === "flag") return text === "yes";
  if (text === "") {
    if (field.isNullable === true) return null;
    return field.isRequired === true ? new Issue("This is required.") : undefined;
  }
  switch (field.kind) {
    case "text":
    case "long":
    case "user":
      return text;
    case "choice":
      return field.isBoolean === true ? text === "true" : text;
    case "cents": {
      const cents = centsOf(text);
      if (cents === undefined) return new Issue("Type an amount such as 12.50.");
      if (field.isPositive === true && cents <= 0) return new Issue("Type an amount above zero.");
      return cents.toString();
    }
    case "percent": {
      const hundredths = hundredthsOf(text);
      return hundredths ?? new Issue("Type a percentage from 0 to 100, such as 1.75.");
    }
    case "number":
      return /^-?\d{1,9}$/.test(text) ? Number(text) : new Issue("Type a whole number.");
    case "time":
      return timeOf(text) ?? new Issue("Type a date and a time.");
    case "uuid":
      return isUuid(text) ? text : new Issue("This is no id.");
    case "list":
      return text.split(/[\s,]+/).filter((one) => one !== "");
    case "days":
      return /^\d{1,4}$/.test(text)
        ? { days: Number(text) }
        : new Issue("Type a whole number of days.");
    case "day":
      return /^\d{4}-\d\d-\d\d$/.test(text) ? text : new Issue("Type a day as 2026-11-24.");
    case "json":
      return jsonOf(text);
    case "entries":
      return entriesOf(text);
  }
}

/** 175 of "1.75", "1,75" or "1.75 %"; undefined for anything else, and above 100. */
function hundredthsOf(text: string): number | undefined {
  const match = /^(\d{1,3})(?:[.,](\d{1,2}))?\s*%?$/.exec(text);
  if (match === null) return undefined;
  const hundredths = Number(match[1]) * 100 + Number((match[2] ?? "").padEnd(2, "0"));
  return hundredths <= 10_000 ? hundredths : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return new Issue("This is no JSON.");
  }
}

/** Objects as JSON, or as CSV whose first line has the names. An empty cell is left out. */
function entriesOf(text: string): unknown {
  if (/^[[{]/.test(text)) return jsonOf(text);
  const table = readTable(text);
  if (typeof table === "string") return new Issue(table);
  const { names, rows } = table;
  // A line with more cells than any is taken for the names.
  if (rows.length === 0 || names.some((name) => !/^[a-z_]+$/.test(name))) {
    return new Issue("The first line must have the names, and no line more cells than it.");
  }
  return rows.map(({ cells }) =>
    Object.fromEntries(cells.flatMap((cell, at) => (cell === "" ? [] : [[names[at] ?? "", cell]]))),
  );
}
