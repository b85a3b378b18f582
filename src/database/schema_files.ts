import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";

/** The files of db/ and migrate/: what a version puts into a database. */

/** Where the editable truth of the database is. */
export const schemaDirectory = resolve(import.meta.dirname, "../../db");

/** A piece of one file: what stands between two of its includes. */
export interface SchemaPart {
  /** Relative to db/. */
  path: string;
  /** The line of the file at which the piece begins, from 1. */
  line: number;
  sql: string;
}

const INCLUDE = /^--![ \t]*include[ \t]+(.*\.sql)[ \t]*$/;
const INCLUDES = new RegExp(INCLUDE, "gm");

/**
 * The schema as written in db/: `all.sql` with every `--!include` replaced by the file it names,
 * in order, as pieces that still know where they come from. A file in a folder is one piece.
 */
export function readSchema(
  path = "all.sql",
  includedFrom: string[] = [],
  directory = schemaDirectory,
): SchemaPart[] {
  if (includedFrom.includes(path)) {
    throw new Error(`db/${path} includes itself, through ${includedFrom.join(", ")}`);
  }
  const parts: SchemaPart[] = [];
  let lines: string[] = [];
  let firstLine = 1;
  const endPiece = (nextLine: number): void => {
    const sql = lines.join("\n");
    if (sql.trim() !== "") parts.push({ path, line: firstLine, sql });
    lines = [];
    firstLine = nextLine;
  };
  if (path.includes("/")) return [{ path, line: 1, sql: readSchemaFile(path, directory) }];
  readFileSync(join(directory, path), "utf8")
    .split("\n")
    .forEach((line, index) => {
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
 * A file of a folder of db/, such as a function's. What it includes is part of a statement, and
 * comes as one line: so the lines of the file keep their numbers.
 */
export function readSchemaFile(path: string, directory = schemaDirectory): string {
  const text = readFileSync(join(directory, path), "utf8");
  return text.replace(INCLUDES, (_, name: string) =>
    readSchemaFile(name, directory)
      .replace(/^--.*$/gm, "")
      .trim()
      .replaceAll(/\s*\n\s*/g, " "),
  );
}

/** Where a statement of a piece failed, and why. */
export function describeFailure(part: SchemaPart, error: unknown): string {
  const { message, code, position, detail, hint, where } = error as Record<string, string>;
  const before = part.sql.slice(0, Number(position ?? 1) - 1);
  const line = part.line + before.split("\n").length - 1;
  const more = [detail, hint, where].filter(Boolean).map((text) => `\n  ${text ?? ""}`);
  return `db/${part.path}:${line}: ${message ?? ""} (${code ?? ""})${more.join("")}`;
}

/**
 * What is put in place after the migrations. Of a file that migrations make, such as a table's, this
 * is its comments.
 */
export interface InstalledFile extends SchemaPart {
  kind: "comments" | "function" | "grants" | "types" | "view";
  /** Of the function or view, with its schema. */
  name: string | undefined;
  hash: string;
}

export interface InstalledFiles {
  files: InstalledFile[];
  /** Those of db/. */
  schemas: string[];
  /** Of all that this version puts into a database, migrations and files. */
  hash: string;
}

const COMMENT = /^comment on [\s\S]*?';$/gm;

/** What this version puts in place. */
export const installedFiles = once((): InstalledFiles => {
  const ofTables = new Set(readSchema("tables.sql").map(({ path }) => path));
  const files = readSchema("all.sql").flatMap((part): InstalledFile[] => {
    const kind = kindOf(part.path, ofTables);
    if (kind === undefined) return [];
    const sql = kind === "comments" ? (part.sql.match(COMMENT) ?? []).join("\n") : part.sql;
    const isNamed = kind === "function" || kind === "view";
    const name = isNamed ? objectOf(part.path) : undefined;
    return [{ ...part, sql, kind, name, hash: hashOf(sql) }];
  });
  const texts = [
    ...committedMigrations().map(({ filename, hash }) => `${filename} ${hash}`),
    ...files.map(({ path, hash }) => `${path} ${hash}`),
  ];
  return {
    files,
    schemas: files.flatMap(({ path }) => /^(\w+)\/schema\.sql$/.exec(path)?.[1] ?? []),
    hash: hashOf(texts.join("\n")),
  };
});

function kindOf(path: string, ofTables: Set<string>): InstalledFile["kind"] | undefined {
  if (path === "grants.sql") return "grants";
  if (!path.includes("/")) return undefined;
  const folder = /^\w+\/(\w+)\/\w+\.sql$/.exec(path)?.[1];
  if (folder === "views") return "view";
  if (folder !== undefined && folder !== "tables") return "function";
  return ofTables.has(path) ? "comments" : "types";
}

/** The function, table or view of a file, with its schema. The folder between says only what it is. */
export function objectOf(path: string): string {
  return path.replace(/\/\w+\/(\w+)\.sql$/, ".$1");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Has committed/, current.sql, and fixtures, a link to db/. */
export const migrationsDirectory = resolve(import.meta.dirname, "../../migrate");

export interface Migration {
  filename: string;
  hash: string;
}

/** The migrations of this version, in order. */
export const committedMigrations = once((): Migration[] => {
  const directory = join(migrationsDirectory, "committed");
  const filenames = readdirSync(directory).filter((name) => /^\d{6}.*\.sql$/.test(name));
  return filenames.sort().map((filename) => {
    const text = readFileSync(join(directory, filename), "utf8");
    const hash = /^--! Hash: (\S+)$/m.exec(text)?.[1];
    if (hash === undefined) throw new Error(`${filename} has no line "--! Hash: ..."`);
    return { filename, hash };
  });
});

/**
 * Files that come later, with the next version, do not make a process unready: it goes on with what
 * it has read first.
 */
function once<T>(read: () => T): () => T {
  let result: { value: T } | undefined;
  return () => (result ??= { value: read() }).value;
}
