import type { Client, Pool } from "pg";
import { hasCode } from "../has_code.ts";
import { DatabaseNotReadyError } from "./not_ready.ts";
import { cut } from "./cut.ts";
import { makeLoneClient } from "./pools.ts";

/** In each round a pooler may swap the server connections of the two clients. */
const ROUNDS = 3;

/**
 * Throws when prepared statements get lost, or clash with those of another session. A transaction
 * pooler causes that unless it supports prepared statements, and orders would fail at random. The
 * signal aborts the check.
 */
export async function checkPreparedStatements(pool: Pool, signal?: AbortSignal): Promise<void> {
  const clients: Client[] = [];
  const giveUp = (): void => {
    clients.forEach(cut);
  };
  signal?.addEventListener("abort", giveUp);
  try {
    for (let number = 1; number <= 2; number++) {
      const client = makeLoneClient(pool, "pgmarkets prepared statements");
      client.on("error", () => undefined);
      clients.push(client);
      await client.connect();
    }
    for (let round = 1; round <= ROUNDS; round++) {
      // One after the other, on what may be the same server connection.
      for (const client of clients) await client.query(statement("shared"));
      // At the same time, so that the server connections differ.
      await Promise.all(clients.map((client, index) => client.query(statement(`own_${index}`))));
      for (const [index, client] of [...clients.entries()].reverse()) {
        await client.query(statement(`own_${index}`));
      }
    }
  } catch (error) {
    throw isPreparedStatementLost(error) ? notReady(error) : error;
  } finally {
    signal?.removeEventListener("abort", giveUp);
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

/** Whether a prepared statement is missing, or exists already. */
export function isPreparedStatementLost(error: unknown): boolean {
  return hasCode(error, "26000", "42P05");
}

function statement(name: string): { name: string; text: string } {
  return { name: `pgmarkets_${name}`, text: "select pg_catalog.pg_sleep(0.005)" };
}

function notReady(cause: unknown): DatabaseNotReadyError {
  return new DatabaseNotReadyError(
    "Prepared statements get lost on the way to the database, as by a transaction pooler " +
      "without support for them. Connect directly, set pool_mode = session, or use PgBouncer 1.21 or " +
      "later with max_prepared_statements above 0",
    { reason: "prepared_statements", cause },
  );
}
