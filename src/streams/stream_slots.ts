import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { callsOn } from "../database/call.ts";
import { api } from "../database/calls.ts";
import type { StreamHolder } from "../database/calls.ts";
import { plainProblem, ProblemError } from "../errors.ts";
import type { Repeat } from "./event_stream.ts";

export interface StreamSlotsOptions {
  pool: Pool;
  logger: Logger;
  repeat: Repeat;
}

/** Counts the streams that addresses and users hold open, over all servers of the database. */
export interface StreamSlots {
  /**
   * Counts a stream until its response closes. The end of the request (429) when its address or
   * its user holds as many as may be.
   */
  take: (holder: StreamHolder, response: ServerResponse) => Promise<void>;
  /** Counts none of this process any more. */
  close: () => Promise<void>;
}

/** A lease that is not renewed counts for 30 seconds. */
const RENEW_EVERY_MS = 10_000;
const RETRY_AFTER_SECONDS = 10;

/**
 * The counts are in the database under a lease of this process: what a killed process had open
 * counts no more once its lease has run out. When the lease is gone (the database crashed), or a
 * count may be wrong, the process takes a new one for what it has open.
 */
export function createStreamSlots({ pool, logger, repeat }: StreamSlotsOptions): StreamSlots {
  const calls = callsOn(pool, api);
  const open = new Set<StreamHolder>();
  let leaseId: string | undefined;
  /** The counts under the lease may be wrong. */
  let isDoubtful = false;
  let leasing: Promise<string> | undefined;
  const stopRenewing = repeat(() => void renew(), RENEW_EVERY_MS);

  /** The lease to count by; a new one if there is none, or if this one is no good. */
  function getLease(bad?: string): Promise<string> {
    if (leasing !== undefined) return leasing;
    if (leaseId !== undefined && leaseId !== bad && !isDoubtful) return Promise.resolve(leaseId);
    const [before, next] = [leaseId, randomUUID()];
    leasing = calls
      .leaseStreams({ leaseId: next, streams: [...open], insteadOf: before })
      .then(() => {
        isDoubtful = false;
        return (leaseId = next);
      })
      .finally(() => (leasing = undefined));
    return leasing;
  }

  async function take(holder: StreamHolder, response: ServerResponse): Promise<void> {
    let bad: string | undefined;
    for (;;) {
      const lease = await getLease(bad);
      const { isLeased, isAllowed } = await calls
        .openStream({ leaseId: lease, ...holder })
        .catch((error: unknown) => {
          // It may have been counted.
          isDoubtful = true;
          throw error;
        });
      if (isLeased && !isAllowed) {
        response.setHeader("Retry-After", RETRY_AFTER_SECONDS);
        throw new ProblemError(plainProblem(429, "Too many streams are open"));
      }
      // A lease that was taken meanwhile knows nothing of this stream.
      if (isLeased && lease === leaseId && leasing === undefined) break;
      bad = isLeased ? undefined : lease;
    }
    open.add(holder);
    const release = (): void => {
      if (open.delete(holder)) void giveBack(holder);
    };
    if (response.destroyed) release();
    else response.once("close", release);
  }

  async function giveBack(holder: StreamHolder): Promise<void> {
    try {
      // A lease that is being taken was told of this stream while it was open.
      const lease = await (leasing ?? leaseId);
      if (lease !== undefined) await calls.closeStream({ leaseId: lease, ...holder });
    } catch (error) {
      logger.debug({ error }, "a stream that closed could not be counted off");
      isDoubtful = true;
    }
  }

  async function renew(): Promise<void> {
    const lease = leaseId;
    if (lease === undefined || leasing !== undefined) return;
    try {
      const isGood = await calls.renewStreamLease({ leaseId: lease });
      if (isDoubtful || !isGood) await getLease(lease);
    } catch (error) {
      logger.debug({ error }, "the lease of the open streams could not be renewed");
    }
  }

  return {
    take,
    close: async () => {
      stopRenewing();
      const lease = leaseId;
      leaseId = undefined;
      open.clear();
      if (lease === undefined) return;
      await calls.endStreamLease({ leaseId: lease }, { attempts: 1 }).catch((error: unknown) => {
        logger.debug({ error }, "the lease of the open streams could not be ended");
      });
    },
  };
}
