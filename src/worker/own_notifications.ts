import type { Pool, PoolClient } from "pg";

/** By this channel graphile-worker announces a change of its schema to older workers. */
const MIGRATED = "worker:migrate";

const guarded = new WeakSet<Pool>();

/**
 * Hides notifications of a changed schema from the queue, which would close itself and wait for its
 * jobs. PostgreSQL lets every login notify, so any login could stop the jobs. The schema changes only
 * by `npm run migrate` of a version with another graphile-worker, after which workers are restarted.
 * To be called before the pool has connections.
 */
export function ignoreForeignNotifications(pool: Pool): void {
  if (guarded.has(pool)) return;
  guarded.add(pool);
  pool.on("connect", (client: PoolClient) => {
    const emit = client.emit.bind(client) as (name: string, ...values: unknown[]) => boolean;
    client.emit = ((name: string, ...values: unknown[]): boolean => {
      const [message] = values as [{ channel?: string } | undefined];
      return name === "notification" && message?.channel === MIGRATED
        ? false
        : emit(name, ...values);
    }) as typeof client.emit;
  });
}
