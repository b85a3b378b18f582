import type { Pool } from "pg";
import { call } from "../database/call.ts";
import type { CommandLimiter } from "../database/call_limits.ts";
import { api } from "../database/calls.ts";
import type { OrderRequest, Outcome } from "../database/calls.ts";
import { DatabaseFailure, withRetries } from "../database/failures.ts";
import type { RetryOptions } from "../database/failures.ts";
import { wasSlow, workOf } from "./choose_orders.ts";
import type { Lane, Lanes, Waiting } from "./lanes.ts";
import { isUnfinished } from "./unfinished.ts";

/** The calls of api.place_orders, and what becomes of the orders that they bring. */

export interface CallContext {
  pool: Pool;
  /** For the turns of calls that wait for locks. */
  limiter: CommandLimiter;
  lanes: Lanes<Outcome>;
  retries: RetryOptions | undefined;
  unfinishedForMs: number;
  slowMs: number | undefined;
  now: () => number;
  onCommitted: (outcomes: Outcome[]) => void;
}

type Order = Waiting<Outcome>;

/** What a call took once it had a connection, and how long it lasted. */
interface Taken {
  orders?: Order[];
  tookMs: number;
}

/**
 * One call for what waits in all markets that are ready, which waits for the lock of none.
 * `onTaken` is called when it has a connection and has taken its orders.
 */
export async function placeGathered(context: CallContext, onTaken: () => void): Promise<void> {
  const { lanes, retries, slowMs } = context;
  const take = () => {
    const taken = lanes.takeGathered();
    onTaken();
    return taken;
  };
  const taken: Taken = { tookMs: 0 };
  try {
    const options = { retries: { ...retries, exceptConflicts: true }, waits: false };
    const outcomes = await callFor(context, taken, take, options);
    const { orders = [], tookMs } = taken;
    const shared = lanes.of(orders);
    if (wasSlow(tookMs, sumOfWork(orders), slowMs)) {
      for (const lane of shared) lanes.goAlone(lane, shared.size === 1 ? "slow" : "suspect");
    }
    answer(context, orders, outcomes);
  } catch (error) {
    // No connection was to be had: those who came later need not wait for the same news.
    if (taken.orders === undefined) rejectAll(lanes.takeReady(), error);
    else failGathered(context, taken.orders, error);
  } finally {
    if (taken.orders === undefined) onTaken();
    else lanes.end(lanes.of(taken.orders));
  }
}

/** Where nothing has happened, each market is tried by itself: only one of them is to blame. */
function failGathered({ lanes }: CallContext, orders: Order[], error: unknown): void {
  const isConflict = error instanceof DatabaseFailure && error.kind === "conflict";
  const isPoisoned = !(error instanceof DatabaseFailure) && orders.length > 1;
  if (!isConflict && !isPoisoned) {
    rejectAll(orders, error);
    return;
  }
  for (const lane of lanes.of(orders)) lanes.goAlone(lane, "suspect");
  lanes.putBack(orders);
}

/** One call for one market, which waits for its lock. */
export async function placeAlone(context: CallContext, lane: Lane<Outcome>): Promise<void> {
  const { lanes, slowMs } = context;
  const retries = aloneOptions(context, lane.marketId);
  const taken: Taken = { tookMs: 0 };
  try {
    const take = () => lanes.takeAlone(lane);
    const outcomes = await callFor(context, taken, take, { retries, waits: true });
    const { orders = [], tookMs } = taken;
    if (wasSlow(tookMs, sumOfWork(orders), slowMs)) lanes.goAlone(lane, "slow");
    else if (orders.length > 0) lanes.noteQuick(lane);
    answer(context, orders, outcomes);
  } catch (error) {
    const { orders } = taken;
    if (orders === undefined) rejectAll(lanes.takeAll(lane), error);
    else if (error instanceof DatabaseFailure || orders.length === 1) {
      if (error instanceof DatabaseFailure && error.kind === "conflict") {
        rejectLate(context, lane, error);
      }
      rejectAll(orders, error);
    } else await placeOneByOne(context, orders, retries);
  } finally {
    lanes.end([lane]);
  }
}

/** A market whose calls conflicted to the end: orders that have waited as long wait no more. */
function rejectLate(context: CallContext, lane: Lane<Outcome>, error: DatabaseFailure): void {
  const { lanes, now, unfinishedForMs } = context;
  lanes.goAlone(lane, "slow");
  const oldest = now() - unfinishedForMs;
  const all = lanes.takeAll(lane);
  const late = all.filter(({ since }) => since <= oldest);
  rejectAll(late, error);
  lanes.putBack(all.filter(({ since }) => since > oldest));
}

/** The orders of one market failed as a whole and had no effect: only one of them is to blame. */
async function placeOneByOne(
  context: CallContext,
  orders: Order[],
  retries: RetryOptions,
): Promise<void> {
  for (const order of orders) {
    try {
      const outcomes = await withRetries(
        context.pool,
        (client) =>
          call(client, api.placeOrders, { orders: [order.request], atomic: false, waits: true }),
        retries,
      );
      answer(context, [order], outcomes);
    } catch (error) {
      order.reject(error);
    }
  }
}

/**
 * One call for orders that are placed together or not at all, made until it is finished. Each time
 * it is made again, it goes to the end of its line.
 */
export async function placeAllOrNone(
  context: CallContext,
  orders: OrderRequest[],
): Promise<Outcome[]> {
  const { now, onCommitted, pool, unfinishedForMs } = context;
  const options = togetherOptions(context, orders);
  const since = now();
  let outcomes: Outcome[];
  do {
    outcomes = await withRetries(
      pool,
      (client) => call(client, api.placeOrders, { orders, atomic: true, waits: true }),
      options,
    );
  } while (outcomes.some((outcome) => isUnfinished(outcome, since, unfinishedForMs, now())));
  if (outcomes.length !== orders.length) throw wrongCount(orders, outcomes);
  if (outcomes.every(({ code }) => code === null)) onCommitted(outcomes);
  return outcomes;
}

/** The calls of one market that goes alone are a line of their own. */
function aloneOptions({ limiter, retries }: CallContext, marketId: string): RetryOptions {
  const turn = limiter.turn(`market ${marketId}`, { alone: "", market: marketId });
  return { ...retries, turn };
}

/** So are the atomic batches of one user, apart from the user's other commands. */
function togetherOptions({ limiter, retries }: CallContext, orders: OrderRequest[]): RetryOptions {
  const users = [...new Set(orders.map(({ userId }) => userId))];
  const markets = [...new Set(orders.map(({ marketId }) => marketId))];
  const holds = { alone: "", batch: users, user: users, market: markets };
  return { ...retries, turn: limiter.turn(`batch ${users.join()}`, holds) };
}

/** Makes the call, and takes its orders only when there is a connection: more may have come. */
async function callFor(
  { now, pool }: CallContext,
  taken: Taken,
  take: () => Order[],
  { retries, waits }: { retries: RetryOptions | undefined; waits: boolean },
): Promise<Outcome[]> {
  return await withRetries(
    pool,
    async (client) => {
      taken.orders ??= take();
      if (taken.orders.length === 0) return [];
      const began = now();
      const orders = taken.orders.map(({ request }) => request);
      const outcomes = await call(client, api.placeOrders, { orders, atomic: false, waits });
      taken.tookMs = now() - began;
      return outcomes;
    },
    retries,
  );
}

/** Gives orders their results, and puts those back that are to be placed again. */
function answer(context: CallContext, orders: Order[], outcomes: Outcome[]): void {
  const { lanes, now, onCommitted, unfinishedForMs } = context;
  if (outcomes.length !== orders.length) {
    // It is committed, so there is nothing to try again and nobody to give a result to.
    rejectAll(orders, wrongCount(orders, outcomes));
    return;
  }
  const again: Order[] = [];
  const results: Outcome[] = [];
  outcomes.forEach((outcome, index) => {
    const order = orders[index];
    if (order === undefined) return;
    const isBusy = outcome.code === "MARKET_BUSY";
    if (isBusy || isUnfinished(outcome, order.since, unfinishedForMs, now())) again.push(order);
    else {
      results.push(outcome);
      order.resolve(outcome);
    }
  });
  for (const lane of lanes.of(again)) lanes.goAlone(lane, "busy");
  lanes.putBack(again);
  if (orders.length > 0) onCommitted(results);
}

function sumOfWork(orders: Order[]): number {
  return orders.reduce((sum, { request }) => sum + workOf(request), 0);
}

function wrongCount(orders: unknown[], outcomes: Outcome[]): RangeError {
  return new RangeError(
    `api.place_orders gave ${outcomes.length} results to ${orders.length} orders`,
  );
}

function rejectAll(orders: Order[], error: unknown): void {
  for (const order of orders) order.reject(error);
}
