import type { ClientBase, Pool } from "pg";
import { noteObjects } from "../../../src/database/install.ts";
import {
  describeFailure,
  readSchema,
  schemaDirectory,
} from "../../../src/database/schema_files.ts";
import { version } from "../../../src/version.ts";

/** Builds the schema of db/, or of another such directory, in an empty database, in one transaction. */
export async function buildSchema(client: ClientBase, directory = schemaDirectory): Promise<void> {
  await client.query("begin");
  for (const part of readSchema("all.sql", [], directory)) {
    try {
      await client.query(part.sql);
    } catch (error) {
      throw new Error(describeFailure(part, error), { cause: error });
    }
  }
  await client.query("commit");
}

/** Notes a built schema as an installation does. */
export async function noteInstallation(client: ClientBase): Promise<void> {
  await client.query(
    `insert into installer.installations (version, hash, server_version)
     values ($1, 'built by a test', current_setting('server_version_num')::int / 10000)`,
    [version],
  );
  await noteChanges(client);
}

/** Lets `ledger.verify()` take what a test has changed in the schema for installed. */
export async function noteChanges(database: Pool | ClientBase): Promise<void> {
  await database.query(noteObjects);
}
