import { readText } from "../../../helpers/repository.ts";

/** What is done to a sound database, with names of rows for `:name`, and what must notice it. */
export type Damage = [invariant: string, statement: string];

/**
 * The damages of a file: a line `-- <invariant>`, and then statements of which each breaks it. A
 * damage begins at the start of a line, and its other lines are indented, those of a second
 * statement too.
 */
export function readDamages(name: string): Damage[] {
  const damages: Damage[] = [];
  let invariant: string | undefined;
  const text = readText(`test/db/ledger/damages/${name}.sql`).trimEnd();
  for (const part of text.split(/\n+(?=\S)/)) {
    if (part.startsWith("-- ")) invariant = part.slice("-- ".length);
    else if (!part.startsWith("/*")) {
      if (!invariant || !part.endsWith(";")) throw new Error(`this is no damage: ${part}`);
      damages.push([invariant, part]);
    }
  }
  return damages;
}
