import type { Pool } from "pg";
import { noteChanges } from "../database/schema.ts";

/** How many makers a bounded call of this database may meet from now on. */
export async function setMostMakers(pool: Pool, makers: number): Promise<void> {
  await pool.query(
    `create or replace function trading.most_makers(delays_others boolean) returns int
     language sql immutable parallel safe return ${makers}`,
  );
  await noteChanges(pool);
}
