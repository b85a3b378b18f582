import type { Pool, PoolClient } from "pg";

/** By it graphile-worker tells older workers that its schema has changed under them. */
const MIGRATED = "worker:migrate";

const guarded = new WeakSet<Pool>();

/**
 * Keeps the queue from hearing that its schema has changed. PostgreSQL lets every login notify, and
 * the queue would close itself, wait for its jobs and leave what is due undone meanwhile. Its
 * schema changes only by `npm run migrate` of a version that brings another graphile-worker, and
 * with that its workers are restarted. To be called before the pool has connections.
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
