import type { ClientBase } from "pg";
import {
  describeFailure,
  readSchema,
  schemaDirectory,
} from "../../../src/database/schema_files.ts";

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
