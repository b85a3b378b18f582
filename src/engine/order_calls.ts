import type { Pool } from "pg";
import { call } from "../database/call.ts";
import type { CommandLimiter } from "../database/call_limits.ts";
import { api } from "../database/calls.ts";
import type { CommandResult, OrderRequest, VersionedResult } from "../database/calls.ts";
import { DatabaseFailure, withRetries } from "../database/failures.ts";
import type { RetryOptions } from "../database/failures.ts";
import { wasSlow, workOf } from "./choose_orders.ts";
import type { Lane, Lanes, Waiting } from "./lanes.ts";
import { isUnfinished, untilFinished } from "./unfinished.ts";

/** The calls of api.place_orders, and what becomes of the orders that they bring. */

export interface CallContext {
  pool: Pool;
  /** For the turns of calls that wait for locks. */
  limiter: CommandLimiter;
  lanes: Lanes<VersionedResult>;
  retries: RetryOptions | undefined;
  unfinishedForMs: number;
  slowMs: number | undefined;
  now: () => number;
  onCommitted: (results: CommandResult[]) => void;
  /** An order has to be placed by itself: see {@link placeByItself}. */
  onDeep: (order: Waiting<VersionedResult>) => void;
}

type Order = Waiting<VersionedResult>;

/**
 * A batch in a call of its own counts as deep if it has more shares. They can't meet more makers;
 * trading.most_makers allows as many to a call of one market.
 */
const MANY_MAKERS = 500;

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
    const results = await callFor(context, taken, take, options);
    const { orders = [], tookMs } = taken;
    const shared = lanes.of(orders);
    if (wasSlow(tookMs, sumOfWork(orders), slowMs)) {
      for (const lane of shared) lanes.goAlone(lane, shared.size === 1 ? "slow" : "suspect");
    }
    answer(context, orders, results);
  } catch (error) {
    // There was no connection. Orders that came later would fail in the same way.
    if (taken.orders === undefined) rejectAll(lanes.takeReady(), error);
    else failGathered(context, taken.orders, error);
  } finally {
    if (taken.orders === undefined) onTaken();
    else lanes.end(lanes.of(taken.orders));
  }
}

/** If nothing has happened, each market is tried alone: only one of them caused the failure. */
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
export async function placeAlone(context: CallContext, lane: Lane<VersionedResult>): Promise<void> {
  const { lanes, slowMs } = context;
  const retries = aloneOptions(context, lane.marketId);
  const taken: Taken = { tookMs: 0 };
  try {
    const take = () => lanes.takeAlone(lane);
    const results = await callFor(context, taken, take, { retries, waits: true });
    const { orders = [], tookMs } = taken;
    if (wasSlow(tookMs, sumOfWork(orders), slowMs)) lanes.goAlone(lane, "slow");
    else if (orders.length > 0) lanes.noteQuick(lane);
    answer(context, orders, results);
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

/** After the last conflict of a market: rejects the orders that have waited for too long. */
function rejectLate(
  context: CallContext,
  lane: Lane<VersionedResult>,
  error: DatabaseFailure,
): void {
  const { lanes, now, unfinishedForMs } = context;
  lanes.goAlone(lane, "slow");
  const oldest = now() - unfinishedForMs;
  const all = lanes.takeAll(lane);
  const late = all.filter(({ since }) => since <= oldest);
  rejectAll(late, error);
  lanes.putBack(all.filter(({ since }) => since > oldest));
}

/** The orders of one market failed together and had no effect: only one of them caused that. */
async function placeOneByOne(
  context: CallContext,
  orders: Order[],
  retries: RetryOptions,
): Promise<void> {
  for (const order of orders) {
    try {
      const options = { retries, waits: true };
      const results = await callFor(context, { tookMs: 0 }, () => [order], options);
      answer(context, [order], results);
    } catch (error) {
      order.reject(error);
    }
  }
}

/** One call for an order that meets more makers than calls of other orders may. */
export async function placeByItself(context: CallContext, order: Order): Promise<void> {
  const { lanes, limiter, retries } = context;
  const { marketId, userId } = order.request;
  lanes.hold(order);
  try {
    const holds = { alone: "", deep: "", user: userId, market: marketId };
    const options = { ...retries, turn: limiter.turn(`deep ${userId}`, holds) };
    const orders = { orders: [order.request], atomic: false };
    answer(context, [order], await finishedResults(context, orders, options));
  } catch (error) {
    order.reject(error);
  } finally {
    lanes.letGo(order);
  }
}

/** The results of one call, made until it is finished. Each time it goes to the end of its line. */
async function finishedResults(
  { now, pool, unfinishedForMs }: CallContext,
  orders: { orders: OrderRequest[]; atomic: boolean },
  options: RetryOptions,
): Promise<VersionedResult[]> {
  const unbounded = { ...orders, waits: true, bounded: false };
  return await untilFinished(
    () => withRetries(pool, (client) => call(client, api.placeOrdersVersioned, unbounded), options),
    { forMs: unfinishedForMs, now },
  );
}

/** One call for orders that are placed together or not at all, made until it is finished. */
export async function placeAllOrNone(
  context: CallContext,
  orders: OrderRequest[],
): Promise<VersionedResult[]> {
  const { onCommitted } = context;
  const options = togetherOptions(context, orders);
  const results = await finishedResults(context, { orders, atomic: true }, options);
  if (results.length !== orders.length) throw wrongCount(orders, results);
  if (results.every(({ code }) => code === null)) onCommitted(results);
  return results;
}

/** The orders of a user that are placed with one idempotency key. */
export interface KeyedBatch {
  userId: string;
  orders: OrderRequest[];
  atomic: boolean;
  idempotencyKey: string;
  requestFingerprint: string;
}

/** One call for a batch with a key, made until it is finished: see {@link placeAllOrNone}. */
export async function placeKeyed(context: CallContext, batch: KeyedBatch): Promise<CommandResult> {
  const { now, onCommitted, pool, unfinishedForMs } = context;
  const options = { ...togetherOptions(context, batch.orders, batch.userId), repeatable: true };
  const result = await untilFinished(
    () => withRetries(pool, (client) => call(client, api.placeBatch, batch), options),
    { forMs: unfinishedForMs, now },
  );
  if (result.code === null && !result.replayed) onCommitted(resultsIn(result.body).results);
  return result;
}

/** What api.place_batch returns as text. */
export function resultsIn(body: string): { results: CommandResult[]; balance: unknown } {
  return JSON.parse(body) as ReturnType<typeof resultsIn>;
}

/** The calls of one market that goes alone are a line of their own. */
function aloneOptions({ limiter, retries }: CallContext, marketId: string): RetryOptions {
  const turn = limiter.turn(`market ${marketId}`, { alone: "", market: marketId });
  return { ...retries, turn };
}

/** The atomic batches of one user are a line, apart from the user's other commands. */
function togetherOptions(
  { limiter, retries }: CallContext,
  orders: OrderRequest[],
  ...others: string[]
): RetryOptions {
  const users = [...new Set([...others, ...orders.map(({ userId }) => userId)])];
  const markets = [...new Set(orders.map(({ marketId }) => marketId))];
  const holds = {
    ...{ alone: "", batch: users, user: users, market: markets },
    ...(mayBeDeep(orders) && { deep: "" }),
  };
  return { ...retries, turn: limiter.turn(`batch ${users.join()}`, holds) };
}

/** Whether orders may meet very many makers. A share costs at least a cent. */
function mayBeDeep(orders: OrderRequest[]): boolean {
  const mostShares = orders.map(({ quantity, budgetCents }) => quantity ?? budgetCents ?? 0);
  return mostShares.reduce((sum, shares) => sum + shares, 0) > MANY_MAKERS;
}

/** Makes the call. It takes its orders once it has a connection, since more may have come. */
async function callFor(
  { now, pool }: CallContext,
  taken: Taken,
  take: () => Order[],
  { retries, waits }: { retries: RetryOptions | undefined; waits: boolean },
): Promise<VersionedResult[]> {
  return await withRetries(
    pool,
    async (client) => {
      taken.orders ??= take();
      if (taken.orders.length === 0) return [];
      const began = now();
      const orders = taken.orders.map(({ request }) => request);
      const results = await call(client, api.placeOrdersVersioned, {
        orders,
        atomic: false,
        waits,
        bounded: true,
      });
      taken.tookMs = now() - began;
      return results;
    },
    retries,
  );
}

/** Gives orders their results, and puts those back that are to be placed again. */
function answer(context: CallContext, orders: Order[], results: VersionedResult[]): void {
  const { lanes, now, onCommitted, onDeep, unfinishedForMs } = context;
  if (results.length !== orders.length) {
    // The call is committed, so it is not repeated, and no result belongs to a certain order.
    rejectAll(orders, wrongCount(orders, results));
    return;
  }
  const again: Order[] = [];
  const final: VersionedResult[] = [];
  results.forEach((result, index) => {
    const order = orders[index];
    if (order === undefined) return;
    const isBusy = result.code === "MARKET_BUSY";
    if (result.code === "MARKET_DEEP") onDeep(order);
    else if (isBusy || isUnfinished(result, order.since, unfinishedForMs, now())) again.push(order);
    else {
      final.push(result);
      order.resolve(result);
    }
  });
  for (const lane of lanes.of(again)) lanes.goAlone(lane, "busy");
  lanes.putBack(again);
  if (orders.length > 0) onCommitted(final);
}

function sumOfWork(orders: Order[]): number {
  return orders.reduce((sum, { request }) => sum + workOf(request), 0);
}

function wrongCount(orders: unknown[], results: VersionedResult[]): RangeError {
  return new RangeError(
    `api.place_orders returned ${results.length} results to ${orders.length} orders`,
  );
}

function rejectAll(orders: Order[], error: unknown): void {
  for (const order of orders) order.reject(error);
}
