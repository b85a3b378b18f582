import { readRows } from "./csv_table.ts";
import { centsOf, isUuid, showCents, showCount } from "./values.ts";

/** A bonus as a pasted list: a line for each user, with the amount in euros. */

export interface Bonus {
  user_id: string;
  amount_cents: number;
}

/** A line of the list. */
interface BonusLine {
  line: number;
  /** Whom it names: an id, a handle or an e-mail address. */
  user: string;
  cents: number;
}

/** What a pasted list says: its lines, and those that are wrong. */
export interface ReadBonuses {
  lines: BonusLine[];
  issues: string[];
}

/** As admin.give_bonus has it. */
export const MOST_USERS = 1000;

/** What the second column may be called. */
const nameOfColumn = /^(?:amount|bonus|eur|€)/i;

/** Reads the list. A first line with names of columns is passed over. */
export function readBonuses(text: string): ReadBonuses {
  const lines: BonusLine[] = [];
  const issues: string[] = [];
  if (text.trim() === "") return { lines, issues };
  const rows = readRows(text);
  if (typeof rows === "string") return { lines, issues: [rows] };
  rows.forEach(({ line, cells }, index) => {
    const [user = "", amount = "", ...more] = cells;
    if (index === 0 && !isUuid(user) && nameOfColumn.test(amount)) return;
    const cents = centsOf(amount);
    const where = `Line ${line}`;
    if (user === "") issues.push(`${where} names no user.`);
    else if (cells.length === 1) issues.push(`${where} has one column, and others have more.`);
    else if (more.some((cell) => cell !== "")) {
      issues.push(`${where} has more than a user and an amount.`);
    } else if (cents === undefined || cents <= 0) {
      issues.push(`${where} has no amount above zero.`);
    } else lines.push({ line, user, cents });
  });
  if (lines.length > MOST_USERS) {
    issues.push(`The list has ${lines.length} users: paste at most ${MOST_USERS} at once.`);
  }
  return { lines, issues };
}

/** The handles and addresses of a list, as they stand there and in small letters. */
export function namesIn({ lines, issues }: ReadBonuses): string[] {
  if (issues.length > 0) return [];
  const names = lines.map(({ user }) => user).filter((user) => !isUuid(user));
  return [...new Set(names.flatMap((name) => [name, name.toLowerCase()]))];
}

/** The bonuses; `ids` has those of handles and addresses in small letters. */
export function bonusesOf(
  lines: readonly BonusLine[],
  ids: ReadonlyMap<string, string>,
): { bonuses: Bonus[]; issues: string[] } {
  const bonuses: Bonus[] = [];
  const issues: string[] = [];
  const seen = new Set<string>();
  for (const { line, user, cents } of lines) {
    const name = user.toLowerCase();
    const id = isUuid(name) ? name : ids.get(name);
    if (id === undefined) issues.push(`Line ${line}: there is no user ${user}.`);
    else if (seen.has(id)) issues.push(`Line ${line} names a user for the second time.`);
    else bonuses.push({ user_id: id, amount_cents: cents });
    if (id !== undefined) seen.add(id);
  }
  return { bonuses, issues };
}

/** 2 users get €3.00 */
export function paidBy(bonuses: readonly Bonus[]): string {
  const sum = bonuses.reduce((all, { amount_cents: cents }) => all + cents, 0);
  const [count, get] = [bonuses.length, bonuses.length === 1 ? "user gets" : "users get"];
  return `${showCount(count)} ${get} ${showCents(sum)}`;
}
