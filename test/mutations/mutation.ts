import { readSchemaFile } from "../../src/database/schema_files.ts";
import { readText } from "../helpers/repository.ts";

/** One way to break the exchange: a text of one file of db/ is replaced by another. */
export interface Mutation {
  name: string;
  /** What goes wrong, in words. */
  breaks: string;
  /** Below db/. */
  file: string;
  /** Stands in the file exactly once. */
  from: string;
  /** What is put there instead. */
  to: string;
  /** The tests that have to fail, below test/, without their ending. */
  tests: string[];
}

const ENTRY = /^(\w+): (.+)\n {2}(\S+\.sql) < (\S.*)((?:\n[-+ ](?: .*)?)+)\n?$/;

/**
 * The mutations of `test/mutations/<theme>.txt`, with an empty line between them:
 *
 *     market_lock_shared: the lock of a market lets several in at once
 *       trading/lock/lock_market.sql < concurrency/pairs
 *     - return pg_advisory_xact_lock(
 *     + return pg_advisory_xact_lock_shared(
 *
 * The name and what breaks; the file and the tests, one space apart; then `from` is what stands
 * behind `- ` and `to` what stands behind `+ `, and both have the lines that begin with two spaces.
 * An empty line of them is a `-` or `+` alone. A line `# ` between two is a comment.
 */
export function readMutations(theme: string): Mutation[] {
  const path = `test/mutations/${theme}.txt`;
  const entries = readText(path).split("\n\n");
  return entries.flatMap((entry) => {
    if (/^# .*$/.test(entry)) return [];
    const [, name, breaks, file, tests, lines] = ENTRY.exec(entry) ?? [];
    if (!name || !breaks || !file || !tests || !lines) {
      throw new Error(`${path}: this is no mutation:\n${entry}`);
    }
    const behind = (signs: string) => {
      const those = lines
        .slice(1)
        .split("\n")
        .filter((line) => signs.includes(line.charAt(0)));
      return those.map((line) => line.slice(2)).join("\n");
    };
    const [from, to] = [behind("- "), behind("+ ")];
    return [{ name, breaks, file, from, to, tests: tests.split(" ") }];
  });
}

/** The file of a mutation as text, with the mistake. */
export function mutate({ name, file, from, to }: Mutation): string {
  const pieces = readSchemaFile(file).split(from);
  if (pieces.length !== 2) {
    throw new Error(`${name}: its text stands ${pieces.length - 1} times in db/${file}`);
  }
  return pieces.join(to);
}
