import { readSchemaFile } from "../../src/database/schema_files.ts";

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

/** The file of a mutation as text, with the mistake. */
export function mutate({ name, file, from, to }: Mutation): string {
  const pieces = readSchemaFile(file).split(from);
  if (pieces.length !== 2) {
    throw new Error(`${name}: its text stands ${pieces.length - 1} times in db/${file}`);
  }
  return pieces.join(to);
}
