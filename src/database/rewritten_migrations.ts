import type { ClientBase } from "pg";

/**
 * Migrations that were rewritten before their release: the hash of before, and the present one. The
 * schema is the same after the migration that follows.
 */
const rewritten = new Map([
  // It dropped functions that calls under way still called.
  [
    "sha1:762811e7303c2fb0640a6dea47e6be7ed6a658fd",
    "sha1:0e8612d8e8d24aa0c7870b38cf781f7adec2401e",
  ],
]);

/** The hash that a migration has now. */
export const presentHash = (hash: string): string => rewritten.get(hash) ?? hash;

/** Brings what the database has noted of its migrations up to date, for graphile-migrate. */
export async function renewHashes(client: ClientBase): Promise<void> {
  const { rowCount } = await client.query(
    "select where to_regclass('graphile_migrate.migrations') is not null",
  );
  if (rowCount === 0) return;
  for (const hashes of rewritten) {
    await client.query("update graphile_migrate.migrations set hash = $2 where hash = $1", hashes);
  }
}
