import type { Pool } from "pg";
import { placeOrders } from "../database/api.ts";
import type { OrderRequest, Outcome } from "../database/api.ts";
import { DatabaseFailure, withRetries } from "../database/failures.ts";
import type { RetryOptions } from "../database/failures.ts";
import { pickBatch, wasSlow } from "./pick_batch.ts";
import { isUnfinished } from "./unfinished.ts";

export interface OrderBatcherOptions {
  pool: Pool;
  /** Orders at most in one call. */
  batchCap?: number;
  /** Orders at most that may wait, over all markets; beyond it new ones are turned away. */
  waitingCap?: number;
  retries?: RetryOptions;
  /** How long an order is placed again that is not finished; see unfinished.ts. */
  unfinishedForMs?: number;
  /** A call that takes longer for few orders makes the next one take less; see pick_batch.ts. */
  slowMs?: number;
  /** Told after each call that was committed. */
  onCommitted?: (outcomes: Outcome[]) => void;
}

/** Places orders so that those which arrive while a market is busy go together. */
export interface OrderBatcher {
  /** Settles when the order is placed, refused (a value) or could not be placed (an error). */
  place: (marketId: string, request: OrderRequest) => Promise<Outcome>;
  /** Settles once no order is waiting or under way. */
  drained: () => Promise<void>;
}

interface Waiting {
  request: OrderRequest;
  /** When it came. */
  since: number;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

/** One market's queue, which exists only while a call of the market is under way. */
interface Lane {
  marketId: string;
  waiting: Waiting[];
  /** Its last call took long for the orders that it had. */
  isSlow: boolean;
}

const DEFAULT_BATCH_CAP = 200;
const DEFAULT_WAITING_CAP = 10_000;

/**
 * A market's orders are matched one transaction after another, so a busy market gets through more
 * of them only if each transaction takes more. Hence each market has one call under way at most,
 * and whatever arrives meanwhile waits for the next. A market that is idle waits for nothing.
 */
export function createOrderBatcher(options: OrderBatcherOptions): OrderBatcher {
  const { pool, retries } = options;
  const onCommitted = options.onCommitted ?? (() => undefined);
  const batchCap = options.batchCap ?? DEFAULT_BATCH_CAP;
  const waitingCap = options.waitingCap ?? DEFAULT_WAITING_CAP;
  const { slowMs, unfinishedForMs } = options;
  const lanes = new Map<string, Lane>();
  const running = new Set<Promise<void>>();
  let waitingCount = 0;

  function place(marketId: string, request: OrderRequest): Promise<Outcome> {
    if (waitingCount >= waitingCap) return Promise.reject(new DatabaseFailure("overloaded"));
    return new Promise((resolve, reject) => {
      const waiting = { request, since: performance.now(), resolve, reject };
      waitingCount++;
      const lane = lanes.get(marketId);
      if (lane === undefined) open(marketId, waiting);
      else lane.waiting.push(waiting);
    });
  }

  function open(marketId: string, first: Waiting): void {
    const lane: Lane = { marketId, waiting: [first], isSlow: false };
    lanes.set(marketId, lane);
    const run = runLane(lane).finally(() => running.delete(run));
    running.add(run);
  }

  async function runLane(lane: Lane): Promise<void> {
    while (lane.waiting.length > 0) await placeNext(lane);
    lanes.delete(lane.marketId);
  }

  function takeBatch(lane: Lane): Waiting[] {
    const batch = pickBatch(lane.waiting, batchCap, lane.isSlow);
    waitingCount -= batch.length;
    return batch;
  }

  async function placeNext(lane: Lane): Promise<void> {
    let batch: Waiting[] = [];
    try {
      const outcomes = await withRetries(
        pool,
        async (client) => {
          // Only now that there is a connection: more may have come while waiting for it.
          if (batch.length === 0) batch = takeBatch(lane);
          const began = performance.now();
          const given = await placeOrders(client, lane.marketId, requestsOf(batch));
          lane.isSlow = wasSlow(performance.now() - began, batch.length, slowMs);
          return given;
        },
        retries,
      );
      const unfinished = answer(batch, outcomes, unfinishedForMs);
      waitingCount += unfinished.length;
      lane.waiting.unshift(...unfinished);
      onCommitted(outcomes);
    } catch (error) {
      if (batch.length === 0) {
        // No connection was to be had: those who came later need not wait for the same news.
        for (;;) {
          batch = takeBatch(lane);
          if (batch.length === 0) return;
          rejectAll(batch, error);
        }
      }
      if (error instanceof DatabaseFailure || batch.length === 1) rejectAll(batch, error);
      else await placeOneByOne(lane, batch);
    }
  }

  /** The batch as a whole failed and left nothing behind: only who is at fault shall suffer. */
  async function placeOneByOne(lane: Lane, batch: Waiting[]): Promise<void> {
    for (const waiting of batch) {
      try {
        const call = withRetries(
          pool,
          (client) => placeOrders(client, lane.marketId, requestsOf([waiting])),
          retries,
        );
        const outcomes = await call;
        const unfinished = answer([waiting], outcomes, unfinishedForMs);
        waitingCount += unfinished.length;
        lane.waiting.push(...unfinished);
        onCommitted(outcomes);
      } catch (error) {
        waiting.reject(error);
      }
    }
  }

  async function drained(): Promise<void> {
    while (running.size > 0) await Promise.all(running);
  }

  return { place, drained };
}

function requestsOf(batch: Waiting[]): OrderRequest[] {
  return batch.map((waiting) => waiting.request);
}

/** Gives the orders of a batch their outcomes, and returns those that are to be placed again. */
function answer(batch: Waiting[], outcomes: Outcome[], unfinishedForMs?: number): Waiting[] {
  if (outcomes.length !== batch.length) {
    // It is committed, so there is nothing to try again and nobody to give an outcome to.
    const given = `${outcomes.length} outcomes to ${batch.length} orders`;
    rejectAll(batch, new RangeError(`api.place_orders gave ${given}`));
    return [];
  }
  const unfinished: Waiting[] = [];
  outcomes.forEach((outcome, index) => {
    const waiting = batch[index];
    if (waiting && isUnfinished(outcome, waiting.since, unfinishedForMs)) unfinished.push(waiting);
    else waiting?.resolve(outcome);
  });
  return unfinished;
}

function rejectAll(batch: Waiting[], error: unknown): void {
  for (const waiting of batch) waiting.reject(error);
}
