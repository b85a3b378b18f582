import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isColumns, snakeCase } from "../src/database/call.ts";
import type { DatabaseFunction, Fields } from "../src/database/call.ts";
import { api } from "../src/database/calls.ts";
import { jobs } from "../src/database/job_calls.ts";
import { migrationsDirectory } from "../src/database/schema_files.ts";

/**
 * released_calls.json has the functions that servers and workers of the last release call. They go on
 * while the next release is installed, so it keeps these functions.
 */

/** A function with the names and types of what it gets and gives. */
export interface ReleasedCall {
  name: string;
  arguments: string[];
  columns: string[];
}

const path = join(migrationsDirectory, "released_calls.json");

/** The calls of this version, from the table of calls. */
export function listCalls(): ReleasedCall[] {
  const shown = (fields: Fields): string[] =>
    Object.entries(fields).map(([name, { name: type }]) => `${snakeCase(name)} ${type}`);
  return Object.entries({ api, jobs }).flatMap(([schema, table]) =>
    Object.values<DatabaseFunction<Fields, unknown>>(table).map((call) => ({
      name: `${schema}.${call.name}`,
      arguments: shown(call.arguments),
      columns: isColumns(call.result.type) ? shown(call.result.type) : [call.result.type.name],
    })),
  );
}

/** Those of the last release; none before the first. */
export async function readReleasedCalls(): Promise<ReleasedCall[]> {
  return JSON.parse(await readFile(path, "utf8")) as ReleasedCall[];
}

/** Notes the calls of this version as those of the last release. */
export async function writeReleasedCalls(): Promise<void> {
  await writeFile(path, `${JSON.stringify(listCalls(), null, 2)}\n`);
}
