import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Pool } from "pg";
import { makeLoneClient } from "../database/pools.ts";

/** A database that does not answer for this long is taken for gone. */
const GONE_AFTER_MS = 1000;
const CHECK_EVERY_MS = 1000;
const RETRY_MS = 100;

/** Resolves when the database of a pool does not answer a new connection. Fails after the signal. */
export async function untilDatabaseGone(pool: Pool, signal: AbortSignal): Promise<void> {
  while (await answersInTime(pool)) {
    await delay(CHECK_EVERY_MS, undefined, { signal });
  }
}

async function answersInTime(pool: Pool): Promise<boolean> {
  const late = delay(GONE_AFTER_MS, false, { ref: false });
  const deadline = performance.now() + GONE_AFTER_MS;
  while (performance.now() < deadline) {
    if (await Promise.race([answers(pool), late])) return true;
    // Of several hosts, each attempt tries another one.
    await delay(RETRY_MS);
  }
  return false;
}

async function answers(pool: Pool): Promise<boolean> {
  const client = makeLoneClient(pool, "pgmarkets worker ending");
  client.on("error", () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    // It answers that it has no connection left.
    return error instanceof pg.DatabaseError && error.code?.startsWith("53") === true;
  } finally {
    client.end().catch(() => undefined);
  }
}
