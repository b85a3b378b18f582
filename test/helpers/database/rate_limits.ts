import type { ClientBase, Pool } from "pg";

/** Lets all users that there are, and all addresses, ask as often as they like; to be called by the login that owns the database. */
export async function liftRateLimits(database: Pool | ClientBase): Promise<void> {
  await database.query(
    `select admin.set_rate_limit(
       bucket => b.bucket, max_requests => 1000000000, window_seconds => 1
     )
     from rate_limits.buckets as b`,
  );
  await database.query(
    `select admin.set_rate_policy(
       user_id => u.public_id, tier => 'custom',
       requests_per_minute => 1000000, burst_capacity => 1000000
     )
     from identity.users as u`,
  );
  await database.query(
    "select admin.set_stream_cap(holder => c.holder, max_streams => 1000000000) from rate_limits.stream_caps as c",
  );
}
