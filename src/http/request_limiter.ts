import { call } from "../database/call.ts";
import { api } from "../database/calls.ts";
import type { CountedRequest, RequestCounters } from "../database/calls.ts";
import { gatherCalls } from "../database/gathered_calls.ts";
import type { GatherOptions } from "../database/gathered_calls.ts";

export type RequestLimiterOptions = Omit<GatherOptions<RequestCounters, CountedRequest>, "ask">;

/** Counts requests, and finds those that are too many. */
export interface RequestLimiter {
  /** Counts one request in all of these counters, or in none if one of them is full. */
  take: (counters: RequestCounters) => Promise<CountedRequest>;
}

/** The counts are in the database, which all processes share. */
export function createRequestLimiter(options: RequestLimiterOptions): RequestLimiter {
  const take = gatherCalls<RequestCounters, CountedRequest>({
    ...options,
    ask: (client, requests) => call(client, api.countRequests, { requests }),
  });
  return { take };
}
