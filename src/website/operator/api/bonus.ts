import { centsOf, isUuid } from "./values.ts";

/** A bonus as a pasted list: a line for each user, with the id and the amount in euros. */

export interface Bonus {
  user_id: string;
  amount_cents: number;
}

/** What a pasted list says: the bonuses, and the lines that are wrong. */
export interface ReadBonuses {
  bonuses: Bonus[];
  issues: string[];
}

/** As admin.give_bonus has it. */
export const MOST_USERS = 1000;

/** Reads the list. A first line with names of columns is passed over. */
export function readBonuses(text: string): ReadBonuses {
  const bonuses: Bonus[] = [];
  const issues: string[] = [];
  const seen = new Set<string>();
  text.split(/\r?\n/).forEach((line, index) => {
    if (line.trim() === "") return;
    const [id = "", amount = "", ...more] = line
      .split(/[,;\t]/)
      .map((cell) => cell.trim().replace(/^"|"$/g, ""));
    if (index === 0 && !isUuid(id) && centsOf(amount) === undefined) return;
    const cents = centsOf(amount);
    const where = `Line ${index + 1}`;
    if (!isUuid(id)) issues.push(`${where} does not begin with the id of a user.`);
    else if (more.length > 0) issues.push(`${where} has more than an id and an amount.`);
    else if (cents === undefined || cents <= 0) issues.push(`${where} has no amount above zero.`);
    else if (seen.has(id.toLowerCase())) issues.push(`${where} names a user for the second time.`);
    else {
      seen.add(id.toLowerCase());
      bonuses.push({ user_id: id.toLowerCase(), amount_cents: cents });
    }
  });
  if (bonuses.length > MOST_USERS) {
    issues.push(`The list has ${bonuses.length} users: paste at most ${MOST_USERS} at once.`);
  }
  return { bonuses, issues };
}
