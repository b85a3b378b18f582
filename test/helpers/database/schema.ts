import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { ClientBase } from "pg";

/** Where the editable truth of the database lives. */
const databaseDirectory = resolve(import.meta.dirname, "../../../db");

/** A piece of one file: what stands between two of its includes. */
export interface SchemaPart {
  /** Relative to db/. */
  path: string;
  /** The line of the file at which the piece begins, from 1. */
  line: number;
  sql: string;
}

const INCLUDE = /^--![ \t]*include[ \t]+(.*\.sql)[ \t]*$/;

/**
 * The schema as written in db/: `all.sql` with every `--!include` replaced by the file it names,
 * in order, as pieces that still know where they come from.
 */
export function readSchema(
  path = "all.sql",
  includedFrom: string[] = [],
  directory = databaseDirectory,
): SchemaPart[] {
  if (includedFrom.includes(path)) {
    throw new Error(`db/${path} includes itself, through ${includedFrom.join(", ")}`);
  }
  const parts: SchemaPart[] = [];
  let lines: string[] = [];
  let firstLine = 1;
  const endPiece = (nextLine: number) => {
    const sql = lines.join("\n");
    if (sql.trim() !== "") parts.push({ path, line: firstLine, sql });
    lines = [];
    firstLine = nextLine;
  };
  const text = readFileSync(join(directory, path), "utf8");
  text.split("\n").forEach((line, index) => {
    const included = INCLUDE.exec(line)?.[1];
    if (included === undefined) {
      lines.push(line);
    } else {
      endPiece(index + 2);
      const name = relative(directory, resolve(directory, included));
      parts.push(...readSchema(name, [...includedFrom, path], directory));
    }
  });
  endPiece(0);
  return parts;
}

/**
 * Builds the schema of db/, or of another such directory, in an empty database, in one transaction,
 * as a migration would.
 */
export async function buildSchema(
  client: ClientBase,
  directory = databaseDirectory,
): Promise<void> {
  await client.query("begin");
  for (const part of readSchema("all.sql", [], directory)) {
    try {
      await client.query(part.sql);
    } catch (error) {
      throw new Error(describe(part, error), { cause: error });
    }
  }
  await client.query("commit");
}

function describe(part: SchemaPart, error: unknown): string {
  const { message, code, position, detail, hint, where } = error as Record<string, string>;
  const before = part.sql.slice(0, Number(position ?? 1) - 1);
  const line = part.line + before.split("\n").length - 1;
  const more = [detail, hint, where].filter(Boolean).map((text) => `\n  ${text ?? ""}`);
  return `db/${part.path}:${line}: ${message ?? ""} (${code ?? ""})${more.join("")}`;
}
