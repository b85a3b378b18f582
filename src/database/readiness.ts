import type { Pool, PoolClient } from "pg";
import { singleFlight } from "../single_flight.ts";
import { withRetries } from "./failures.ts";
import { checkDatabase, checkWritable } from "./migrations.ts";
import { DatabaseNotReadyError } from "./not_ready.ts";
import type { NotReadyReason } from "./not_ready.ts";
import { isPreparedStatementLost } from "./prepared_statements.ts";

/** Whether this process could carry out an order now. */
export interface Readiness {
  /** Undefined if it could, otherwise why not. */
  check: () => Promise<NotReadyReason | undefined>;
}

/** However many ask, the database is asked this often. */
const ANSWER_HOLDS_FOR_MS = 500;

/** Looks at the database of this pool when asked. */
export function createReadiness(pool: Pool): Readiness {
  return { check: singleFlight(() => reasonAgainst(pool), ANSWER_HOLDS_FOR_MS) };
}

async function reasonAgainst(pool: Pool): Promise<NotReadyReason | undefined> {
  const look = async (client: PoolClient): Promise<NotReadyReason | undefined> => {
    try {
      // A version to come migrates before it replaces this one, which goes on meanwhile.
      await checkDatabase(client, { allowLater: true });
      await checkWritable(client);
      // By each connection in its turn: a pooler that mixes them up loses it.
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
