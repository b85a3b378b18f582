import type { CsvTable } from "../api/csv_table.ts";
import { isDay } from "../api/values.ts";
import type { BankEntry, ReadBank } from "./entry.ts";

/** Entries of a bank from the columns of its CSV file. */

/** Which column is what, by its place. */
export interface Mapping {
  reference: number;
  amount: number;
  date: number;
  /** Says whether cash came in or went out. Undefined: the amount has a sign. */
  sign: number | undefined;
  decimal: "," | ".";
}

/** With the name of the currency and all that groups digits. */
const LONGEST_AMOUNT = 40;

const cameIn = new Set(["c", "cr", "crdt", "credit", "h", "haben", "+"]);
const wentOut = new Set(["d", "dr", "dbit", "debit", "s", "soll", "-"]);

/** Reads each row. An empty row of the mapped columns is an issue, and not left out. */
export function readEntries({ names, rows }: CsvTable, mapping: Mapping): ReadBank {
  const entries: BankEntry[] = [];
  const issues: string[] = [];
  for (const { line, cells } of rows) {
    const entry = cells.length === names.length ? entryOf(cells, mapping) : "has other columns";
    if (typeof entry === "string") issues.push(`Line ${line} ${entry}.`);
    else entries.push(entry);
  }
  return { entries, issues };
}

function entryOf(cells: readonly string[], mapping: Mapping): BankEntry | string {
  const cell = (place: number): string => cells[place] ?? "";
  const reference = cell(mapping.reference);
  if (reference === "" || reference.length > 200) return "has no reference of 1 to 200 characters";
  const day = dayOf(cell(mapping.date));
  if (day === undefined) return `has no date: “${short(cell(mapping.date))}”`;
  const cents = centsOfCell(cell(mapping.amount), mapping.decimal);
  if (cents === undefined) return `has no amount: “${short(cell(mapping.amount))}”`;
  if (mapping.sign === undefined) return { day, reference, amountCents: cents };
  const sign = cell(mapping.sign).toLowerCase();
  if (!cameIn.has(sign) && !wentOut.has(sign)) {
    return `does not say whether cash came in: “${short(sign)}”`;
  }
  if (cents < 0) return "has a sign both in the amount and in its own column";
  return { day, reference, amountCents: wentOut.has(sign) ? 0 - cents : cents };
}

/** 2026-11-24, 24.11.2026, 24.11.26 and 24/11/2026: the day stands before the month. */
export function dayOf(text: string): string | undefined {
  const iso = /^(\d{4})-(\d\d)-(\d\d)(?:[T ].*)?$/.exec(text);
  const other = /^(\d{1,2})([./])(\d{1,2})\2(\d{4}|\d\d)$/.exec(text);
  let day: string | undefined;
  if (iso !== null) day = iso.slice(1).join("-");
  else if (other !== null) {
    const [, date = "", , month = "", year = ""] = other;
    day = `${year.padStart(4, "20")}-${month.padStart(2, "0")}-${date.padStart(2, "0")}`;
  }
  return day !== undefined && isDay(day) ? day : undefined;
}

/** The cents of an amount such as -1.234,50 or 12,50-; exact, as no fraction is computed. */
export function centsOfCell(text: string, decimal: "," | "."): number | undefined {
  if (text.length > LONGEST_AMOUNT) return undefined;
  const plain = text.replace(/^(?:EUR|€)\s*|\s*(?:EUR|€)$/g, "").replace("−", "-");
  const group = decimal === "," ? "[.\\s'’]" : "[,\\s'’]";
  const amount = new RegExp(
    `^([-+]?)(\\d{1,3}(?:(${group})\\d{3}(?:\\3\\d{3})*)?|\\d{1,12})(?:[${decimal}](\\d{1,2}))?(-?)$`,
  ).exec(plain);
  if (amount === null) return undefined;
  const [, before = "", whole = "", , fraction = "", after = ""] = amount;
  if (before !== "" && after !== "") return undefined;
  const digits = whole.replace(/\D/g, "");
  if (digits.length > 12) return undefined;
  const cents = Number(`${digits}${fraction.padEnd(2, "0")}`);
  return (before === "-" || after === "-") && cents !== 0 ? -cents : cents;
}

function short(text: string): string {
  return text.length > 30 ? `${text.slice(0, 30)}…` : text;
}
