import type { Pool } from "pg";
import { call } from "../../../src/database/call.ts";
import { jobs } from "../../../src/database/job_calls.ts";
import { withClient } from "../database/test_database.ts";
import type { Contention } from "./contention.ts";
import type { Exchange } from "./test_exchange.ts";

/** What a worker does about dead man's switches. `insist` repeats calls as a worker would. */
export function switchWorker(
  exchange: Pick<Exchange, "database">,
  insist: Contention["insist"] = (attempt) => attempt(),
) {
  let pool: Pool | undefined;
  const workers = (): Pool => (pool ??= exchange.database.connectAs("exchange_worker", { max: 4 }));

  /** What is due; firing begins by it. */
  const due = (passingOver: number[] = []) =>
    insist(() =>
      withClient(workers(), (client) => call(client, jobs.dueDeadManOrders, { passingOver })),
    );

  /** Fires what is due to its end; returns how many orders were cancelled. */
  const fire = async (): Promise<number> => {
    let count = 0;
    for (;;) {
      const found = await due();
      if (found.length === 0) return count;
      for (const { marketId, orderIds } of found) {
        const given = { marketIds: [marketId], orderIds, waits: true };
        const { cancelled } = await insist(() =>
          withClient(workers(), (client) => call(client, jobs.cancelDeadManOrders, given)),
        );
        count += cancelled;
      }
    }
  };

  return { workers, due, fire };
}
