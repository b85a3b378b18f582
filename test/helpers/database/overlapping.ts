import type { Pool, PoolClient } from "pg";
import { until } from "../until.ts";
import { withClient } from "./test_database.ts";

/**
 * Starts the second call while the first has ended and is not committed; what the second came to.
 * `owner` looks whether it waits for a lock; the calls run in sessions of `pool`.
 */
export async function overlapping<Second>(
  owner: Pool,
  first: (client: PoolClient) => Promise<unknown>,
  second: (client: PoolClient) => Promise<Second>,
  pool: Pool = owner,
): Promise<PromiseSettledResult<Second>> {
  let isDone = false;
  return await withClient(pool, async (client) => {
    await client.query("begin");
    await first(client);
    const late = Promise.allSettled([
      withClient(pool, second).finally(() => {
        isDone = true;
      }),
    ]);
    await until("the second call waits, or has ended", async () => {
      const { rows } = await owner.query(
        `select from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return isDone || rows.length > 0;
    });
    await client.query("commit");
    return (await late)[0];
  });
}
