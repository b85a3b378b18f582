import type { ClientBase, Pool, PoolClient } from "pg";
import { singleFlight } from "../single_flight.ts";
import { call } from "./call.ts";
import { api } from "./calls.ts";
import type { LaggingSequence } from "./calls.ts";
import { withRetries } from "./failures.ts";
import type { CommitWatch } from "./commit_watch.ts";
import { checkFunctions } from "./installed_functions.ts";
import { otherVersion, readMigrations } from "./migration_state.ts";
import { DatabaseNotReadyError } from "./not_ready.ts";
import type { NotReadyReason } from "./not_ready.ts";
import { isPreparedStatementLost } from "./prepared_statements.ts";
import { checkServerVersion, checkWritable } from "./server_checks.ts";
import { checkEncoding, checkSession } from "./session_settings.ts";

/** The versions of the database server and of the schema, which is its last migration. */
export interface DatabaseVersions {
  server: string;
  schema: string;
}

/**
 * For servers and workers: throws for a database that can't be used, with what to do about it.
 * Otherwise returns the versions. A database of a later version can be used: it is upgraded before
 * its servers are.
 */
export async function checkDatabase(database: Pool | ClientBase): Promise<DatabaseVersions> {
  const server = await checkServerVersion(database);
  await checkEncoding(database);
  await checkSession(database);
  const { pending, unknown, last = "none" } = await readMigrations(database);
  if (pending.length > 0) {
    // A database of a later version has all of ours, and more.
    if (unknown.length > 0) throw otherVersion(unknown);
    throw new DatabaseNotReadyError(
      `The database lacks ${pending.length} migration(s), from ${pending[0] ?? ""} on: ` +
        "run npm run migrate as the owner of the database",
      { reason: "migrations_missing" },
    );
  }
  await checkFunctions(database);
  return { server, schema: last };
}

/**
 * Throws if a sequence would give out an id that is taken. Logical replication carries no sequences:
 * a copy has them at their beginning.
 */
export function checkSequences(lagging: LaggingSequence[]): void {
  const [first] = lagging;
  if (first === undefined) return;
  const { sequenceName, lastId, highestId } = first;
  throw new DatabaseNotReadyError(
    `${lagging.length} sequence(s) would give out ids again, as on a copy by logical replication: ` +
      `${sequenceName} stands at ${lastId}, and there is an id ${highestId}. The owner of the ` +
      "database should run: select * from core.set_sequences()",
    { reason: "sequences_behind" },
  );
}

/** Whether this process could carry out an order now. */
export interface Readiness {
  /** Undefined if it could, else the reason. */
  check: () => Promise<NotReadyReason | undefined>;
}

/** The database is asked this often at most. */
const ANSWER_HOLDS_FOR_MS = 500;

/** Sequences of one cluster that do not lag are looked at this often. */
const SEQUENCES_HOLD_FOR_MS = 60_000;

/**
 * So long may commits wait. A synchronous standby that is lost is replaced within this time, and
 * reads go on meanwhile.
 */
const MOST_COMMIT_WAIT_MS = 30_000;

/** Checks the database of this pool, and whether it confirms commits. */
export function createReadiness(pool: Pool, commits: Pick<CommitWatch, "waitMs">): Readiness {
  const checkSequencesOf = rememberSequences();
  const check = async (): Promise<NotReadyReason | undefined> => {
    const reason = await reasonAgainst(pool, checkSequencesOf);
    return reason ?? (commits.waitMs() > MOST_COMMIT_WAIT_MS ? "commits_wait" : undefined);
  };
  return { check: singleFlight(check, ANSWER_HOLDS_FOR_MS) };
}

/** Checks the sequences, at once when the connections lead to another cluster. */
function rememberSequences(): (client: ClientBase) => Promise<void> {
  let sound = { cluster: "", until: 0 };
  return async (client) => {
    const { rows } = await client.query<{ cluster: string }>(
      "select system_identifier::text as cluster from pg_catalog.pg_control_system()",
    );
    const cluster = rows[0]?.cluster ?? "";
    if (cluster === sound.cluster && performance.now() < sound.until) return;
    checkSequences(await call(client, api.listLaggingSequences, {}));
    sound = { cluster, until: performance.now() + SEQUENCES_HOLD_FOR_MS };
  };
}

async function reasonAgainst(
  pool: Pool,
  checkSequencesOf: (client: ClientBase) => Promise<void>,
): Promise<NotReadyReason | undefined> {
  const look = async (client: PoolClient): Promise<NotReadyReason | undefined> => {
    try {
      await checkDatabase(client);
      await checkWritable(client);
      await checkSequencesOf(client);
      // A transaction pooler may lose this prepared statement.
      await client.query({ name: "pgmarkets_ready", text: "select" });
      return undefined;
    } catch (error) {
      if (error instanceof DatabaseNotReadyError) return error.reason;
      if (isPreparedStatementLost(error)) return "prepared_statements";
      throw error;
    }
  };
  try {
    return await withRetries(pool, look, { repeatable: true, attempts: 1 });
  } catch {
    return "database_unreachable";
  }
}
