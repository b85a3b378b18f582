import type { Pool, PoolClient } from "pg";
import { until } from "../until.ts";
import { withClient } from "./test_database.ts";

type Work<Result> = (client: PoolClient) => Promise<Result>;

/**
 * The first call has ended before the second begins, and commits when the second waits or is done.
 * The first gives its result, the second what it came to. `owner` looks whether the second waits;
 * the calls run in sessions of `pool`, unless the first has a pool of its own.
 */
export async function overlapping<First, Second>(
  owner: Pool,
  first: Work<First>,
  second: Work<Second>,
  { pool = owner, firstPool = pool }: { pool?: Pool; firstPool?: Pool } = {},
): Promise<{ first: First; second: PromiseSettledResult<Second> }> {
  const meet = async (one: PoolClient, other: PoolClient) => {
    await one.query("begin");
    const done = await first(one);
    const { rows } = await other.query("select pg_backend_pid() as pid");
    let isDone = false;
    const late = Promise.allSettled([second(other)]).finally(() => {
      isDone = true;
    });
    await until("the second call waits, or is done", async () => {
      const { rows: blocked } = await owner.query(
        "select cardinality(pg_blocking_pids($1)) > 0 as yes",
        [rows[0].pid],
      );
      return isDone || blocked[0].yes;
    });
    await one.query("commit");
    return { first: done, second: (await late)[0] };
  };
  return await withClient(firstPool, (one) =>
    withClient(pool, (other) => meet(one, other).finally(() => one.query("rollback"))),
  );
}
