import type { Pool } from "pg";
import type { OrderRequest, Outcome } from "../database/calls.ts";
import { DatabaseFailure } from "../database/failures.ts";
import type { RetryOptions } from "../database/failures.ts";
import { createLanes } from "./lanes.ts";
import { placeAllOrNone, placeAlone, placeGathered } from "./order_calls.ts";
import type { CallContext, Together } from "./order_calls.ts";
import { UNFINISHED_FOR_MS } from "./unfinished.ts";

export interface OrderGathererOptions {
  pool: Pool;
  /** Expected work of one call at most, in small orders; see choose_orders.ts. */
  mostWork?: number;
  /** Calls under way at most; as many as the pool has connections unless given. */
  callCap?: number;
  /** Orders at most that may wait, over all markets; beyond it new ones are rejected. */
  waitingCap?: number;
  retries?: RetryOptions;
  /** How long an order is placed again that is not finished; see unfinished.ts. */
  unfinishedForMs?: number;
  /** A call that takes longer for little work makes its markets slow; see choose_orders.ts. */
  slowMs?: number;
  /** How long a market shares no call after it was slow or its lock was held elsewhere. */
  aloneForMs?: number;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
  /** Called after each committed call, with the results that it gave. */
  onCommitted?: (outcomes: Outcome[]) => void;
}

/** Places orders; those that wait at the same time share a call of the database. */
export interface OrderGatherer {
  /** Settles when the order is placed, rejected (a value) or could not be placed (an error). */
  place: (order: OrderRequest) => Promise<Outcome>;
  /** Places all of these orders or none: see `atomic` of api.place_orders. */
  placeTogether: (orders: OrderRequest[]) => Promise<Outcome[]>;
  /** Settles once no order is waiting or under way. */
  drained: () => Promise<void>;
}

const DEFAULT_MOST_WORK = 200;
const DEFAULT_WAITING_CAP = 10_000;
const DEFAULT_CALL_CAP = 8;
const DEFAULT_ALONE_FOR_MS = 1000;

/**
 * A transaction costs much more than an order in it, so one call takes what waits in all markets
 * that have no call under way. A market has one call under way at most, since a second one would
 * only wait for its lock. An order that comes when a connection is free waits for nothing.
 *
 * Shared calls do not wait for a market's lock. A market whose lock is held elsewhere (MARKET_BUSY),
 * whose call was slow, or whose shared call failed goes alone for a while, in calls that do wait.
 * These have at most half of the connections, so that the other markets always find one.
 */
export function createOrderGatherer(options: OrderGathererOptions): OrderGatherer {
  const context = contextOf(options);
  const { lanes, now } = context;
  const { waitingCap = DEFAULT_WAITING_CAP } = options;
  const callCap = options.callCap ?? maxOf(options.pool);
  const aloneCap = Math.max(1, Math.floor(callCap / 2));

  const together: Together[] = [];
  const running = new Set<Promise<void>>();
  let togetherCount = 0;
  let aloneCalls = 0;
  let isTurnOfAlone = false;
  /** A shared call waits for its connection; it will take what is ready by then. */
  let isConnecting = false;
  let isScheduled = false;

  const waitingCount = (): number => lanes.count() + togetherCount;

  function place(request: OrderRequest): Promise<Outcome> {
    if (waitingCount() >= waitingCap) return Promise.reject(new DatabaseFailure("overloaded"));
    return new Promise((resolve, reject) => {
      lanes.add({ request, since: now(), resolve, reject });
      schedule();
    });
  }

  function placeTogether(orders: OrderRequest[]): Promise<Outcome[]> {
    if (waitingCount() >= waitingCap) return Promise.reject(new DatabaseFailure("overloaded"));
    return new Promise((resolve, reject) => {
      together.push({ orders, since: now(), resolve, reject });
      togetherCount += orders.length;
      schedule();
    });
  }

  /** After all requests that this turn of the event loop brings: they go together. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      while (running.size < callCap && startCall());
    });
  }

  /** Starts a call if there is something that may go; the two kinds take turns. */
  function startCall(): boolean {
    const canGather = lanes.canGather() && !isConnecting;
    const canGoAlone = (lanes.canGoAlone() || together.length > 0) && aloneCalls < aloneCap;
    if (!canGather && !canGoAlone) return false;
    const goesAlone = canGoAlone && (isTurnOfAlone || !canGather);
    isTurnOfAlone = !goesAlone;
    const call = (goesAlone ? goAlone() : gather()).finally(() => {
      running.delete(call);
      schedule();
    });
    running.add(call);
    return true;
  }

  async function gather(): Promise<void> {
    isConnecting = true;
    await placeGathered(context, () => {
      isConnecting = false;
      schedule();
    });
  }

  async function goAlone(): Promise<void> {
    aloneCalls++;
    const all = together.shift();
    togetherCount -= all?.orders.length ?? 0;
    const lane = all === undefined ? lanes.nextAlone() : undefined;
    if (all !== undefined) await placeAllOrNone(context, all);
    else if (lane !== undefined) await placeAlone(context, lane);
    aloneCalls--;
  }

  async function drained(): Promise<void> {
    while (running.size > 0 || waitingCount() > 0) {
      await Promise.all(running);
      await new Promise(setImmediate);
    }
  }

  return { place, placeTogether, drained };
}

function contextOf(options: OrderGathererOptions): CallContext {
  const { pool, retries, slowMs, unfinishedForMs = UNFINISHED_FOR_MS } = options;
  const { mostWork = DEFAULT_MOST_WORK, aloneForMs = DEFAULT_ALONE_FOR_MS } = options;
  const { now = () => performance.now(), onCommitted = () => undefined } = options;
  const lanes = createLanes<Outcome>({ mostWork, aloneForMs, now });
  return { pool, lanes, retries, unfinishedForMs, slowMs, now, onCommitted };
}

/** The pools of tests have no options. */
function maxOf(pool: Pool): number {
  return (pool as { options?: { max?: number } }).options?.max ?? DEFAULT_CALL_CAP;
}
