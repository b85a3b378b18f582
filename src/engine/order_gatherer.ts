import type { Pool } from "pg";
import { createCallLimiter, REQUEST_PATIENCE_MS } from "../database/call_limiter.ts";
import type { CallLimiter } from "../database/call_limiter.ts";
import type { CommandResult, OrderRequest, VersionedResult } from "../database/calls.ts";
import type { RetryOptions } from "../database/failures.ts";
import { startTimer } from "../later.ts";
import type { Later } from "../later.ts";
import { commandLimits } from "./ladder.ts";
import type { LaneRung, LimitKind } from "./ladder.ts";
import type { Token, Waiting } from "./lane.ts";
import { createLanes, freeIn } from "./lanes.ts";
import { makeCall } from "./order_calls.ts";
import type { CallContext, WhilePaying } from "./order_calls.ts";
import { createOrderCounts } from "./order_counts.ts";
import { createWalks } from "./walks.ts";
import { amend, placeAllOrNone, placeKeyed } from "./whole_calls.ts";
import type { Amendment, KeyedBatch } from "./whole_calls.ts";

export interface OrderGathererOptions {
  /** The calls under way follow from its connections; see ladder.ts. */
  pool: Pool;
  /** For the turns of calls that wait for locks. Other commands may use the same. */
  limiter?: CallLimiter<LimitKind>;
  /** Resting orders that the orders of a call may meet, instead of those of the ladder. */
  mostMakers?: number;
  /** Orders at most that are not answered, over all markets; a quarter of it of one user. */
  waitingCap?: number;
  retries?: RetryOptions;
  /** How long an order waits and is placed again, and a batch that is not finished. */
  unfinishedForMs?: number;
  /** How calls are made that take tokens: see `during` of http/trading_tokens.ts. */
  whilePaying?: WhilePaying;
  /** In milliseconds, by a clock that never goes back. */
  now?: () => number;
  later?: Later;
  /**
   * Called after each committed call with the results that are final, of those told AGAIN none. Orders
   * get their answers also if it throws: its error is an uncaught one of the process.
   */
  onCommitted?: (results: CommandResult[]) => void;
}

/** Places orders; those that wait at the same time share a call of the database. */
export interface OrderGatherer {
  /**
   * Resolves when the order is placed or rejected. Fails with a DatabaseFailure: the order has no
   * effect or, if it is lost, may have been placed.
   *
   * With the token of a request that is not counted yet, its call takes it, unless another order of its
   * user that is not counted waits: then the token is taken before. Fails if there is none.
   */
  place: (order: OrderRequest, token?: Token) => Promise<VersionedResult>;
  /** Places all of these orders or none: see `atomic` of api.place_orders. */
  placeAllOrNone: (orders: OrderRequest[]) => Promise<VersionedResult[]>;
  /** Places a batch with an idempotency key, in one transaction: see api.run_orders. */
  placeKeyed: (batch: KeyedBatch) => Promise<CommandResult>;
  /** Gives an order another price or quantity: see api.run_command. */
  amend: (amendment: Amendment) => Promise<VersionedResult>;
  /** Settles once no order is waiting or under way. */
  drained: () => Promise<void>;
}

/**
 * Beside a shared call another one begins when so many orders wait, or some have waited for so long.
 * A call costs as much as thirty orders in it, and calls at the same time compete for processors.
 */
const ENOUGH_ORDERS = 50;
const LONGEST_WAIT_MS = 20;

/**
 * A transaction costs much more than an order in it, so one call takes what waits in all lanes that
 * have no call under way. An order that comes when no call is under way waits for nothing. Orders
 * that a call could not place climb the ladder; see ladder.ts and lane.ts. One order of a user at most
 * is there before it is paid for, so nobody's unpaid orders hold up others.
 */
export function createOrderGatherer(options: OrderGathererOptions): OrderGatherer {
  const { pool, retries, mostMakers, unfinishedForMs = REQUEST_PATIENCE_MS } = options;
  const { now = () => performance.now(), later = startTimer, waitingCap = 10_000 } = options;
  const whilePaying: WhilePaying = options.whilePaying ?? ((_userIds, run) => run());
  const limits = commandLimits(pool.options.max);
  const limiter = options.limiter ?? createCallLimiter({ limits, later });
  const queues = createCallLimiter({ limits: { most: Infinity, each: { one: 1 } }, later });
  const counts = createOrderCounts(waitingCap);
  const lanes = createLanes(() => {
    schedule();
  });
  const onCommitted = (results: CommandResult[]) => {
    queueMicrotask(() => options.onCommitted?.(results));
  };
  const context: CallContext = {
    ...{ pool, limiter, queues, lanes, walks: createWalks(now), retries, mostMakers },
    ...{ whilePaying, unfinishedForMs, now, onCommitted },
  };
  const schedule = createCallStarter(context, limits.most, later);
  /** Users of an order that is in its lane and may not be paid for. */
  const unpaidUsers = new Set<string>();
  /** The last order of a user that is paid apart. Ends when it and those before it may be put. */
  const payments = new Map<string, Promise<unknown>>();

  const put = (request: OrderRequest, since: number, token?: Token) =>
    counts.during(
      [request],
      () =>
        new Promise<VersionedResult>((resolve, reject) => {
          const until = since + unfinishedForMs;
          lanes.add({ request, since, until, resolve, reject, token, wasTried: false });
        }),
    );

  async function place(request: OrderRequest, token?: Token): Promise<VersionedResult> {
    const { userId } = request;
    const since = now();
    if (token !== undefined && !unpaidUsers.has(userId) && !payments.has(userId)) {
      unpaidUsers.add(userId);
      return await put(request, since, token).finally(() => unpaidUsers.delete(userId));
    }
    if (token !== undefined || payments.has(userId)) await payApart(userId, token);
    return await put(request, since);
  }

  /** Payments of a user are made at the same time. The orders go on in the order in which they came. */
  async function payApart(userId: string, token: Token | undefined): Promise<void> {
    const own = token?.take();
    const both = Promise.allSettled([payments.get(userId), own]);
    payments.set(userId, both);
    await both;
    if (payments.get(userId) === both) payments.delete(userId);
    await own;
  }

  return {
    place,
    placeAllOrNone: (orders) => counts.during(orders, () => placeAllOrNone(context, orders)),
    placeKeyed: (batch) => counts.during(batch.orders, () => placeKeyed(context, batch)),
    amend: (amendment) => amend(context, amendment),
    drained: counts.none,
  };
}

/** Returns what begins calls soon if there are orders for them: of a rung at most so many at once. */
function createCallStarter(context: CallContext, most: number, later: Later): () => void {
  const { lanes, now } = context;
  const underWay = { shared: 0, alone: 0 };
  /** Those of them that have not taken their orders: they will take what is ready by then. */
  const waiting = { shared: 0, alone: 0 };
  let isScheduled = false;
  /** When it is looked at again because orders have waited enough. */
  let wakesAt = Infinity;

  /** After all requests that this turn of the event loop brings: they go together. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      begin();
    });
  }

  function begin(): void {
    // One for each lane, which it chooses later. More than there are turns would only wait.
    const alone = Math.min(lanes.ready("alone").length, most) - waiting.alone;
    for (let begun = 0; begun < alone; begun++) void place("alone");
    if (waiting.shared > 0 || underWay.shared >= most) return;
    const orders = lanes.ready("shared").flatMap(freeIn);
    const isEnough = orders.length >= (underWay.shared === 0 ? 1 : ENOUGH_ORDERS);
    if (isEnough || haveWaited(orders)) void place("shared");
  }

  /** If not, they are looked at again when they have. */
  function haveWaited(orders: Waiting[]): boolean {
    const at = Math.min(...orders.map(({ since }) => since)) + LONGEST_WAIT_MS;
    const waitMs = at - now();
    if (waitMs > 0 && at < wakesAt) {
      wakesAt = at;
      later(() => {
        wakesAt = Infinity;
        schedule();
      }, waitMs);
    }
    return waitMs <= 0;
  }

  async function place(rung: LaneRung): Promise<void> {
    underWay[rung]++;
    waiting[rung]++;
    await makeCall(context, rung, () => {
      waiting[rung]--;
      schedule();
    });
    underWay[rung]--;
    // At once, before the answers.
    begin();
  }

  return schedule;
}
