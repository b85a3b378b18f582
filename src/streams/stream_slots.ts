import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { callsOn } from "../database/call.ts";
import { api } from "../database/calls.ts";
import type { StreamHolder } from "../database/calls.ts";
import { StreamRejection } from "./event_stream.ts";
import type { Repeat } from "./event_stream.ts";

export interface StreamSlotsOptions {
  pool: Pool;
  logger: Logger;
  repeat: Repeat;
}

/** Counts the streams that addresses and users hold open, over all servers of the database. */
export interface StreamSlots {
  /**
   * Counts a stream until its response closes. Throws a {@link StreamRejection} when its address
   * or its user would have more than allowed.
   */
  take: (holder: StreamHolder, response: ServerResponse) => Promise<void>;
  /** Stops counting the streams of this process. */
  close: () => Promise<void>;
}

/** A lease that is not renewed counts for 30 seconds. */
const RENEW_EVERY_MS = 10_000;

/**
 * The counts are in the database under a lease of this process. The streams of a killed process
 * count until its lease has run out. When the lease is gone (the database crashed), or a count may be
 * wrong, the process takes a new lease for the streams that it has open.
 */
export function createStreamSlots({ pool, logger, repeat }: StreamSlotsOptions): StreamSlots {
  const calls = callsOn(pool, api);
  const open = new Set<StreamHolder>();
  let leaseId: string | undefined;
  /** The counts under the lease may be wrong. */
  let isDoubtful = false;
  let leasing: Promise<string> | undefined;
  const stopRenewing = repeat(() => void renew(), RENEW_EVERY_MS);

  /** The lease to count by; a new one if there is none, or if it is the bad one. */
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
      if (isLeased && !isAllowed) throw new StreamRejection("client");
      // A lease that was taken meanwhile does not count this stream.
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
      // A lease that is being taken counts this stream: it was open when the call was made.
      const lease = await (leasing ?? leaseId);
      if (lease !== undefined) await calls.closeStream({ leaseId: lease, ...holder });
    } catch (error) {
      logger.debug({ error }, "a stream that closed is still counted");
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
