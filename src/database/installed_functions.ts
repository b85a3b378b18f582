import type { ClientBase, Pool } from "pg";
import { hasCode } from "../has_code.ts";
import { snakeCase } from "./call.ts";
import type { DatabaseFunction, Fields } from "./call.ts";
import { api } from "./calls.ts";
import { jobs } from "./job_calls.ts";
import { DatabaseNotReadyError } from "./not_ready.ts";
import { installedFiles } from "./schema_files.ts";

/** Whether a database has the functions that this version calls. */

/** Throws if its functions are older than this version's, or so much later that it can't call them. */
export async function checkFunctions(database: Pool | ClientBase): Promise<void> {
  const { hash } = installedFiles();
  const installed = await readInstallations(database);
  if (!installed.includes(hash)) {
    throw new DatabaseNotReadyError(
      "The database lacks the functions of this version: run npm run migrate as the owner of the database",
      { reason: "migrations_missing" },
    );
  }
  if (installed.at(-1) === hash) return;
  const missing = await findMissingCalls(database);
  if (missing.length > 0) {
    throw new DatabaseNotReadyError(
      `The functions of the database are of a later version, without ${missing.join(", ")}: ` +
        "upgrade this process",
      { reason: "migrations_unknown" },
    );
  }
}

/** The hashes of all that was put in place, in order. */
async function readInstallations(database: Pool | ClientBase): Promise<string[]> {
  try {
    const { rows } = await database.query<{ hash: string }>(
      "select hash from installer.installations order by id",
    );
    return rows.map(({ hash }) => hash);
  } catch (error) {
    // Not migrated yet, or the grants are still to come.
    if (hasCode(error, "42P01", "3F000", "42501")) return [];
    throw error;
  }
}

/** The functions of calls.ts that the database does not have with these arguments. */
async function findMissingCalls(database: Pool | ClientBase): Promise<string[]> {
  const calls = Object.entries({ api, jobs }).flatMap(([schema, table]) =>
    Object.values<DatabaseFunction<Fields, unknown>>(table).map(({ name, arguments: args }) => ({
      ...{ schema, name, args: Object.keys(args).map(snakeCase) },
    })),
  );
  const { rows } = await database.query<{ name: string }>(
    `select c.schema || '.' || c.name as name
     from json_to_recordset($1) as c (schema text, name text, args text[])
     where not exists (
       select
       from pg_catalog.pg_proc as p
       join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
       where n.nspname = c.schema and p.proname = c.name
         and c.args <@ coalesce(p.proargnames, '{}')
     )`,
    [JSON.stringify(calls)],
  );
  return rows.map(({ name }) => name);
}
