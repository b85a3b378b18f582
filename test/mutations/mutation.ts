import { readText } from "../helpers/repository.ts";

/** One way to break the exchange: a piece of text in db/ and what is put there instead. */
export interface Mutation {
  name: string;
  /** What goes wrong, in words. */
  breaks: string;
  /** Below db/, without its ending. */
  file: string;
  /** Stands in the file exactly once. */
  find: string;
  put: string;
  /** The tests that have to notice, below test/, without their ending. */
  tests: string[];
}

/** The file of a mutation as text, with what it breaks. Throws if the mutation does not apply. */
export function mutate({ name, file, find, put }: Mutation): string {
  const pieces = readText(`db/${file}.sql`).split(find);
  if (pieces.length !== 2) {
    throw new Error(`${name}: its text is found ${pieces.length - 1} times in db/${file}.sql`);
  }
  return pieces.join(put);
}
