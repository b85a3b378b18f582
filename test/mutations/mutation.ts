import { listFiles, readText } from "../helpers/repository.ts";

/**
 * One way to break the exchange. It changes the lines of db/ that end with its marker,
 * `-- mutant: <mark>`: one line, or several that follow each other.
 */
export interface Mutation {
  name: string;
  /** What goes wrong, in words. */
  breaks: string;
  /** The name of the marker, if it is not the name of the mutation. */
  mark?: string;
  /** Stands in the marked lines exactly once. Without it, the lines are removed. */
  from?: string;
  /** What is put there instead. */
  to?: string;
  /** The tests that have to fail, below test/, without their ending. */
  tests: string[];
}

const MARKER = / -- mutant: (\w+(?:, \w+)*)$/;

interface Line {
  code: string;
  marks: string[];
}

/** A line of SQL without its marker. */
export function withoutMarker(line: string): string {
  return line.replace(MARKER, "");
}

const files = listFiles("db")
  .filter((path) => path.endsWith(".sql"))
  .map((path) => readText(path).split("\n").map(parseLine));

function parseLine(line: string): Line {
  return { code: withoutMarker(line), marks: MARKER.exec(line)?.[1]?.split(", ") ?? [] };
}

/** The names of all markers in db/, each once. */
export function listMarks(): string[] {
  return [...new Set(files.flat().flatMap(({ marks }) => marks))];
}

/** The file of a mutation as text, without markers and with the mistake. */
export function mutate({ name, mark = name, from, to = "" }: Mutation): string {
  const isMarked = ({ marks }: Line) => marks.includes(mark);
  const [lines = [], ...others] = files.filter((file) => file.some(isMarked));
  if (others.length > 0) throw new Error(`Several files of db/ have the marker ${mark}`);
  const [first, last] = [lines.findIndex(isMarked), lines.findLastIndex(isMarked)];
  const marked = lines.slice(first, last + 1);
  if (marked.length === 0) throw new Error(`No file of db/ has the marker ${mark}`);
  if (!marked.every(isMarked)) throw new Error(`The lines of ${mark} do not follow each other`);
  return [
    ...lines.slice(0, first).map(({ code }) => code),
    ...replaceOnce(name, marked.map(({ code }) => code).join("\n"), from, to),
    ...lines.slice(last + 1).map(({ code }) => code),
  ].join("\n");
}

function replaceOnce(name: string, text: string, from: string | undefined, to: string): string[] {
  if (from === undefined) return [];
  const pieces = text.split(from);
  if (pieces.length === 2) return [pieces.join(to)];
  throw new Error(`${name}: ${from} stands ${pieces.length - 1} times in the marked lines`);
}
