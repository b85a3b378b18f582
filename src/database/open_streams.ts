import type { PoolClient } from "pg";
import { call } from "./api.ts";

/** The calls by which a process counts the event streams that it has open. */

/** Who holds an event stream open. */
export interface StreamHolder {
  address: string;
  /** Of a stream of a user. */
  userId?: string | undefined;
}

/** Counts a stream that is about to be opened, unless its holder has as many as may be. */
export async function openStream(
  client: PoolClient,
  leaseId: string,
  { address, userId }: StreamHolder,
): Promise<{ isLeased: boolean; isAllowed: boolean }> {
  const [row] = await call<{ is_leased: boolean; is_allowed: boolean }>(
    client,
    "open_stream",
    `select is_leased, is_allowed
     from api.open_stream(lease_id => $1, address => $2, user_id => $3)`,
    [leaseId, address, userId],
  );
  return { isLeased: row?.is_leased === true, isAllowed: row?.is_allowed === true };
}

/** Counts a stream no more. */
export async function closeStream(
  client: PoolClient,
  leaseId: string,
  { address, userId }: StreamHolder,
): Promise<void> {
  await call(
    client,
    "close_stream",
    "select api.close_stream(lease_id => $1, address => $2, user_id => $3)",
    [leaseId, address, userId],
  );
}

/** Begins the lease of this process, with the streams that it has open. */
export async function leaseStreams(
  client: PoolClient,
  leaseId: string,
  streams: StreamHolder[],
  insteadOf: string | undefined,
): Promise<void> {
  await call(
    client,
    "lease_streams",
    "select api.lease_streams(lease_id => $1, streams => $2, instead_of => $3)",
    [leaseId, JSON.stringify(streams), insteadOf],
  );
}

/** Says that this process is there; false when its lease is gone. */
export async function renewStreamLease(client: PoolClient, leaseId: string): Promise<boolean> {
  const [row] = await call<{ found: boolean }>(
    client,
    "renew_stream_lease",
    "select api.renew_stream_lease(lease_id => $1) as found",
    [leaseId],
  );
  return row?.found === true;
}

/** Ends the lease of this process. */
export async function endStreamLease(client: PoolClient, leaseId: string): Promise<void> {
  await call(client, "end_stream_lease", "select api.end_stream_lease(lease_id => $1)", [leaseId]);
}
