import type { PoolClient } from "pg";
import { call } from "./api.ts";

/** Who is counted in a bucket: an address or a user's id, once or so many times. */
export type CountedSubject = string | { subject: string; count: number };

/** What one request is counted in: buckets, each with an address or with a user's id. */
export type RequestCounters = Partial<
  Record<
    "v1" | "v1-auth" | "v1-user" | "v1-trading" | "sse:market" | "sse:user" | "sse:user-ip",
    CountedSubject
  >
>;

/** What became of one request that was to be counted. */
export type TakenRequest = {
  /** The caller's policy and the whole tokens left, where v1-trading was asked. */
  policy: { requestsPerMinute: number; burstCapacity: number; remaining: number } | undefined;
} & (
  | { allowed: true }
  | {
      allowed: false;
      /** Undefined where the request asks for more than there ever is room for. */
      retryAfterSeconds: number | undefined;
    }
);

/** Counts requests: one outcome each, in the same order. */
export async function takeRequests(
  client: PoolClient,
  requests: RequestCounters[],
): Promise<TakenRequest[]> {
  const rows = await call<{
    allowed: boolean;
    retry_after_seconds: number | null;
    requests_per_minute: number | null;
    burst_capacity: number | null;
    remaining: number | null;
  }>(
    client,
    "take_requests",
    "select allowed, retry_after_seconds, requests_per_minute, burst_capacity, remaining " +
      "from api.take_requests(requests => $1)",
    [JSON.stringify(requests)],
  );
  return rows.map((row) => ({
    ...(row.allowed
      ? { allowed: true }
      : { allowed: false, retryAfterSeconds: row.retry_after_seconds ?? undefined }),
    policy:
      row.requests_per_minute === null || row.burst_capacity === null || row.remaining === null
        ? undefined
        : {
            requestsPerMinute: row.requests_per_minute,
            burstCapacity: row.burst_capacity,
            remaining: row.remaining,
          },
  }));
}
