import type { PoolClient } from "pg";
import { withClient } from "../database/test_database.ts";
import type { Exchange } from "./test_exchange.ts";

/** Whether a call with this in its text waits for a lock. */
export async function isWaiting(exchange: Exchange, query: string): Promise<boolean> {
  const { rowCount } = await exchange.database.pool.query(
    `select from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
    [`%${query}%`],
  );
  return rowCount! > 0;
}

/** Works in a transaction of somebody else, which ends so. */
export async function inTransaction<Result>(
  exchange: Exchange,
  end: "commit" | "rollback",
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  return withClient(exchange.database.pool, async (client) => {
    await client.query("begin");
    let isDone = false;
    try {
      const result = await work(client);
      isDone = true;
      return result;
    } finally {
      await client.query(isDone ? end : "rollback");
    }
  });
}

export const lockUser = (client: PoolClient, userId: string) =>
  client.query("select from trading.traders where public_id = $1 for no key update", [userId]);
