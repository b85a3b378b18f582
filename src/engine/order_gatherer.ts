import type { Pool } from "pg";
import { createCallLimiter } from "../database/call_limiter.ts";
import { commandLimits, createPatience } from "../database/call_limits.ts";
import type { CommandLimiter, Patience } from "../database/call_limits.ts";
import type { CommandResult, OrderRequest, VersionedResult } from "../database/calls.ts";
import type { RetryOptions } from "../database/failures.ts";
import { startTimer } from "../later.ts";
import type { Later } from "../later.ts";
import { createCallPace, ENOUGH_ORDERS } from "./call_pace.ts";
import { createLanes } from "./lanes.ts";
import {
  placeAllOrNone,
  placeAlone,
  placeByItself,
  placeGathered,
  placeKeyed,
} from "./order_calls.ts";
import type { CallContext, KeyedBatch } from "./order_calls.ts";
import { UNFINISHED_FOR_MS } from "./unfinished.ts";
import { createWaitingOrders } from "./waiting_orders.ts";

export interface OrderGathererOptions {
  pool: Pool;
  /** Expected work of one call at most, in small orders; see choose_orders.ts. */
  mostWork?: number;
  /** Shared calls under way at most; as many as the pool has connections unless given. */
  callCap?: number;
  /** For the turns of calls that wait for locks. Others may use the same; see call_limits.ts. */
  limiter?: CommandLimiter;
  /** For calls that may take long; those of the same pool unless given. */
  patience?: Patience;
  /** Orders at most that may wait, over all markets; one user's at most a quarter of it. */
  waitingCap?: number;
  retries?: RetryOptions;
  /** How long an order is placed again that is not finished; see unfinished.ts. */
  unfinishedForMs?: number;
  /** A call that takes longer for little work makes its markets slow; see choose_orders.ts. */
  slowMs?: number;
  /** How long a market shares no call after it was slow or its lock was held elsewhere. */
  aloneForMs?: number;
  /** In milliseconds, by a clock that never goes back. */
  now?: () => number;
  later?: Later;
  /** Called after each committed call, with the results that it gave. */
  onCommitted?: (results: CommandResult[]) => void;
}

/** Places orders; those that wait at the same time share a call of the database. */
export interface OrderGatherer {
  /** Resolves when the order is placed or rejected. Fails when it could not be placed. */
  place: (order: OrderRequest) => Promise<VersionedResult>;
  /** Places all of these orders or none: see `atomic` of api.place_orders. */
  placeTogether: (orders: OrderRequest[]) => Promise<VersionedResult[]>;
  /** Places a batch with an idempotency key, in one transaction: see api.place_batch. */
  placeOnce: (batch: KeyedBatch) => Promise<CommandResult>;
  /** Settles once no order is waiting or under way. */
  drained: () => Promise<void>;
}

const DEFAULT_MOST_WORK = 200;
const DEFAULT_WAITING_CAP = 10_000;
const DEFAULT_ALONE_FOR_MS = 1000;

/**
 * A transaction costs much more than an order in it, so one call takes what waits in all markets
 * that have no call under way. A market has one call under way at most, since a second one would
 * only wait for its lock. An order that comes when no call is under way waits for nothing. Beside
 * one, a call begins with many orders, or when they have waited for as long as a call takes.
 *
 * A call waits for users who are locked, but only for a moment. Then calls skip them for a second:
 * the user's orders (USER_BUSY), or all of a market that meets one (MAKER_BUSY), pause and are tried
 * again. Shared calls do not wait for a market. One whose lock is held elsewhere (MARKET_BUSY), whose
 * call was slow, or whose shared call failed goes alone for a while, in calls that do. So does one
 * whose orders meet more makers than a shared call may. An order that does so by itself (MARKET_DEEP)
 * is placed by itself, on connections of its own. The limiter gives each its turn and keeps
 * connections for the shared calls, so that the other markets always find one.
 */
export function createOrderGatherer(options: OrderGathererOptions): OrderGatherer {
  const onDeep: CallContext["onDeep"] = (order) => {
    run(placeByItself(context, order));
  };
  const context: CallContext = { ...contextOf(options, schedule), onDeep };
  const { lanes, now } = context;
  const { waitingCap = DEFAULT_WAITING_CAP, callCap = options.pool.options.max } = options;
  const waiting = createWaitingOrders(lanes, waitingCap);
  const pace = createCallPace({ now, later: options.later ?? startTimer, onOver: schedule });

  const running = new Set<Promise<unknown>>();
  let sharedCalls = 0;
  /** A shared call waits for its connection; it will take what is ready by then. */
  let isConnecting = false;
  let isScheduled = false;

  async function place(request: OrderRequest): Promise<VersionedResult> {
    waiting.checkRoom([request.userId]);
    return await new Promise((resolve, reject) => {
      lanes.add({ request, since: now(), resolve, reject });
      schedule();
    });
  }

  /** Places a batch in a call of its own. */
  async function placeApart<Result>(
    userIds: string[],
    place: () => Promise<Result>,
  ): Promise<Result> {
    waiting.checkRoom(userIds);
    const placing = waiting.during(userIds, place());
    run(placing);
    return await placing;
  }

  /** After all requests that this turn of the event loop brings: they go together. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      startCalls();
    });
  }

  function startCalls(): void {
    // These wait for their turns in the limiter.
    for (let lane = lanes.nextAlone(); lane !== undefined; lane = lanes.nextAlone()) {
      run(placeAlone(context, lane));
    }
    if (!lanes.hasReady(1) || isConnecting || sharedCalls >= callCap) return;
    const begins =
      sharedCalls === 0 || lanes.hasReady(ENOUGH_ORDERS) || pace.isOver(lanes.readySince());
    if (begins) run(gather());
  }

  function run(begun: Promise<unknown>): void {
    const ended = (): void => {
      running.delete(call);
      schedule();
    };
    const call = begun.then(ended, ended);
    running.add(call);
  }

  async function gather(): Promise<void> {
    sharedCalls++;
    isConnecting = true;
    let began = now();
    await placeGathered(context, () => {
      isConnecting = false;
      began = now();
      schedule();
    });
    pace.note(now() - began);
    sharedCalls--;
  }

  async function drained(): Promise<void> {
    while (running.size > 0 || waiting.count() > 0) {
      await Promise.all(running);
      await new Promise(setImmediate);
    }
  }

  return {
    place,
    placeTogether: (orders) =>
      placeApart(
        orders.map(({ userId }) => userId),
        () => placeAllOrNone(context, orders),
      ),
    placeOnce: (batch) =>
      placeApart(
        batch.orders.map(() => batch.userId),
        () => placeKeyed(context, batch),
      ),
    drained,
  };
}

function contextOf(
  options: OrderGathererOptions,
  onReady: () => void,
): Omit<CallContext, "onDeep"> {
  const { pool, retries, slowMs, unfinishedForMs = UNFINISHED_FOR_MS } = options;
  const { mostWork = DEFAULT_MOST_WORK, aloneForMs = DEFAULT_ALONE_FOR_MS } = options;
  const { now = () => performance.now(), onCommitted = () => undefined } = options;
  const { callCap = pool.options.max } = options;
  const limits = commandLimits(callCap);
  const limiter = options.limiter ?? createCallLimiter({ limits });
  const patience = options.patience ?? createPatience(pool);
  const lanes = createLanes<VersionedResult>({
    mostWork,
    aloneForMs,
    now,
    later: options.later ?? startTimer,
    onReady,
  });
  const lockedUsers = { skippedUntil: 0 };
  return {
    ...{ pool, limiter, patience, lanes, retries },
    ...{ unfinishedForMs, slowMs, now, lockedUsers, onCommitted },
  };
}
