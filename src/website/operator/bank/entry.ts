/** Entries of a bank, as admin.reconcile compares them, and the file that they come from. */

export interface BankEntry {
  /** When it was booked, as 2026-11-24. */
  day: string;
  reference: string;
  /** Above zero for what came in. */
  amountCents: number;
}

/** What a file says: its entries, and what is wrong, with the line or the entry. */
export interface ReadBank {
  entries: BankEntry[];
  issues: string[];
}

/** Where the reference of a CAMT file stands: EndToEndId, the text for the recipient, or the bank's own. */
export type ReferenceKind = "endToEnd" | "text" | "bank";

/** Larger files are not read. */
export const MOST_BYTES = 10_000_000;
/** What a command of the pages may have, less what stands around the entries. */
const MOST_CHARACTERS = 990_000;

/** Banks write UTF-8, or else the older code of Windows. */
export function decodeFile(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** The entries of a day as the argument of the command; undefined if they are too many for it. */
export function bankOf(entries: readonly BankEntry[], day: string): object[] | undefined {
  const bank = entries
    .filter((entry) => entry.day === day)
    .map(({ reference, amountCents }) => ({ reference, amount_cents: amountCents }));
  return JSON.stringify(bank).length > MOST_CHARACTERS ? undefined : bank;
}

/** The days of a file, with how many entries each has. */
export function daysOf(entries: readonly BankEntry[]): [day: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { day } of entries) counts.set(day, (counts.get(day) ?? 0) + 1);
  return [...counts].sort(([one], [other]) => one.localeCompare(other));
}
