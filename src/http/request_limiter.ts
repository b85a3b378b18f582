import type { Pool } from "pg";
import { call } from "../database/call.ts";
import { api } from "../database/calls.ts";
import type { CountedRequest, RequestCounters } from "../database/calls.ts";
import { beforeAnything, DatabaseFailure, withRetries } from "../database/failures.ts";
import type { RetryOptions } from "../database/failures.ts";

export interface RequestLimiterOptions {
  pool: Pool;
  /** Requests at most in one call. */
  batchCap?: number;
  /** Requests at most that may wait; beyond it new ones are rejected. */
  waitingCap?: number;
  retries?: RetryOptions;
}

/** Counts requests, and finds those that are too many. */
export interface RequestLimiter {
  /** Counts one request in all of these counters, or in none if one of them is full. */
  take: (counters: RequestCounters) => Promise<CountedRequest>;
}

interface Waiting {
  counters: RequestCounters;
  resolve: (taken: CountedRequest) => void;
  reject: (error: unknown) => void;
}

const DEFAULT_BATCH_CAP = 500;
const DEFAULT_WAITING_CAP = 10_000;

/**
 * The counts are in the database, which all processes share. One call is under way at most. Requests
 * that arrive meanwhile share the next one, so a request costs less in a busier process.
 */
export function createRequestLimiter(options: RequestLimiterOptions): RequestLimiter {
  const { pool } = options;
  const retries = { ...options.retries, repeatable: true };
  const batchCap = options.batchCap ?? DEFAULT_BATCH_CAP;
  const waitingCap = options.waitingCap ?? DEFAULT_WAITING_CAP;
  let waiting: Waiting[] = [];
  let running = false;

  function take(counters: RequestCounters): Promise<CountedRequest> {
    if (waiting.length >= waitingCap) return Promise.reject(new DatabaseFailure("overloaded"));
    return new Promise((resolve, reject) => {
      waiting.push({ counters, resolve, reject });
      if (!running) void run();
    });
  }

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) await takeNext();
    running = false;
  }

  async function takeNext(): Promise<void> {
    let batch: Waiting[] = [];
    try {
      const taken = await withRetries(
        pool,
        (client) => {
          // Taken once there is a connection, since more may have come.
          if (batch.length === 0) batch = waiting.splice(0, batchCap);
          const requests = batch.map(({ counters }) => counters);
          return call(client, api.countRequests, { requests });
        },
        retries,
      );
      batch.forEach(({ resolve, reject }, index) => {
        const one = taken[index];
        if (one === undefined) reject(new RangeError("api.count_requests left out a request"));
        else resolve(one);
      });
    } catch (error) {
      if (batch.length === 0) {
        // There was no connection. Requests that came later would fail in the same way.
        batch = waiting;
        waiting = [];
      }
      for (const { reject } of batch) reject(beforeAnything(error));
    }
  }

  return { take };
}
