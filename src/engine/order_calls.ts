import pg from "pg";
import type { Pool, PoolClient } from "pg";
import { call } from "../database/call.ts";
import type { CommandLimiter, Patience } from "../database/call_limits.ts";
import { api } from "../database/calls.ts";
import type { CommandResult, OrderRequest, VersionedResult } from "../database/calls.ts";
import { DatabaseFailure, LOCK_NOT_AVAILABLE, withRetries } from "../database/failures.ts";
import type { RetryOptions } from "../database/failures.ts";
import { wasSlow, workOf } from "./choose_orders.ts";
import type { Lane, Lanes, Waiting } from "./lanes.ts";
import { isUnfinished, untilFinished } from "./unfinished.ts";

/** The calls of api.place_orders, and what becomes of the orders that they bring. */

export interface CallContext {
  pool: Pool;
  /** For the turns of calls that wait for locks. */
  limiter: CommandLimiter;
  /** For what may take long. */
  patience: Patience;
  lanes: Lanes<VersionedResult>;
  retries: RetryOptions | undefined;
  unfinishedForMs: number;
  slowMs: number | undefined;
  now: () => number;
  /** After a lock lasted too long, calls skip users who are locked, until then. */
  lockedUsers: { skippedUntil: number };
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

/** How long calls skip users who are locked. It costs less to wait for locks that last milliseconds. */
const SKIP_FOR_MS = 1000;

/** What a call took once it had a connection, and how long it lasted. */
interface Taken {
  orders?: Order[];
  /** Whether it left out orders that met a locked user. */
  skips?: boolean;
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
  const isPoisoned = !(error instanceof DatabaseFailure) && orders.length > 1;
  if (!isConflict(error) && !isPoisoned) {
    rejectAll(orders, error);
    return;
  }
  for (const lane of lanes.of(orders)) lanes.goAlone(lane, "suspect");
  lanes.putBack(orders);
}

/** Nothing has happened, and it may succeed later. */
function isConflict(error: unknown): error is DatabaseFailure {
  return error instanceof DatabaseFailure && error.kind === "conflict";
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
    else if (isConflict(error)) {
      // A lock may last longer than all attempts.
      if (error.sqlstate === LOCK_NOT_AVAILABLE) lanes.putBack(orders);
      else rejectAll(orders, error);
      rejectLate(context, lane, error);
    } else if (error instanceof DatabaseFailure || orders.length === 1) rejectAll(orders, error);
    else await placeOneByOne(context, orders, retries);
  } finally {
    lanes.end([lane]);
  }
}

/** After conflicts of a market: rejects the orders that have waited for too long. */
function rejectLate(context: CallContext, lane: Lane<VersionedResult>, error: unknown): void {
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
      // An order that had to wait would be overtaken by the others of its user.
      const options = { retries, waits: true, maySkip: false };
      const results = await callFor(context, { tookMs: 0 }, () => [order], options);
      answer(context, [order], results);
    } catch (error) {
      order.reject(error);
    }
  }
}

/** One call for an order that meets more makers than calls of other orders may. */
export async function placeByItself(context: CallContext, order: Order): Promise<void> {
  const { lanes } = context;
  lanes.hold(order);
  try {
    const apart = apartOptions(context, [order.request], { isDeep: true });
    const orders = { orders: [order.request], atomic: false };
    answer(context, [order], await finishedResults(context, orders, apart));
  } catch (error) {
    order.reject(error);
  } finally {
    lanes.letGo(order);
  }
}

/** The results of one call, made until it is finished. Each time it goes to the end of its line. */
async function finishedResults(
  { now, unfinishedForMs }: CallContext,
  orders: { orders: OrderRequest[]; atomic: boolean },
  { pool, options }: Apart,
): Promise<VersionedResult[]> {
  const unbounded = { ...orders, waits: true, bounded: false, skips: false };
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
  const apart = apartOptions(context, orders);
  const results = await finishedResults(context, { orders, atomic: true }, apart);
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
  const { now, onCommitted, unfinishedForMs } = context;
  const { pool, options } = apartOptions(context, batch.orders, { others: [batch.userId] });
  const repeatable = { ...options, repeatable: true };
  const result = await untilFinished(
    () => withRetries(pool, (client) => call(client, api.placeBatch, batch), repeatable),
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

/** Where a call is made that no other orders share, and by which turns. */
interface Apart {
  pool: Pool;
  options: RetryOptions;
}

/**
 * The atomic batches of one user are a line, apart from the user's other commands, and so are the
 * orders that may meet any number of makers.
 */
function apartOptions(
  { limiter, patience, pool, retries }: CallContext,
  orders: OrderRequest[],
  { isDeep = mayBeDeep(orders), others = [] as string[] } = {},
): Apart {
  const user = [...new Set([...others, ...orders.map(({ userId }) => userId)])];
  const market = [...new Set(orders.map(({ marketId }) => marketId))];
  const line = `${isDeep ? "deep" : "batch"} ${user.join()}`;
  if (isDeep) {
    const turn = patience.limiter.turn(line, { deep: "", user, market });
    return { pool: patience.pool, options: { ...retries, turn } };
  }
  const turn = limiter.turn(line, { alone: "", batch: user, user, market });
  const patientTurn = patience.limiter.turn(line, { user, market });
  const patiently = { pool: patience.pool, turn: patientTurn };
  return { pool, options: { ...retries, turn, patiently } };
}

/** Whether orders may meet very many makers. A share costs at least a cent. */
function mayBeDeep(orders: OrderRequest[]): boolean {
  const mostShares = orders.map(({ quantity, budgetCents }) => quantity ?? budgetCents ?? 0);
  return mostShares.reduce((sum, shares) => sum + shares, 0) > MANY_MAKERS;
}

interface CallOptions {
  retries: RetryOptions | undefined;
  /** For the locks of markets. */
  waits: boolean;
  /** Whether it may leave out orders that meet a locked user. */
  maySkip?: boolean;
}

/** Makes the call. It takes its orders once it has a connection, since more may have come. */
async function callFor(
  context: CallContext,
  taken: Taken,
  take: () => Order[],
  { retries, waits, maySkip = true }: CallOptions,
): Promise<VersionedResult[]> {
  const { lockedUsers, now, pool } = context;
  async function attempt(client: PoolClient): Promise<VersionedResult[]> {
    taken.orders ??= take();
    if (taken.orders.length === 0) return [];
    const began = now();
    const skips = maySkip && began < lockedUsers.skippedUntil;
    taken.skips = skips;
    const orders = taken.orders.map(({ request }) => request);
    const given = { orders, atomic: false, waits, bounded: true, skips };
    try {
      return await call(client, api.placeOrdersVersioned, given);
    } catch (error) {
      const isLocked = error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;
      if (isLocked) lockedUsers.skippedUntil = now() + SKIP_FOR_MS;
      throw error;
    } finally {
      taken.tookMs = now() - began;
    }
  }

  for (;;) {
    try {
      return await withRetries(pool, attempt, retries);
    } catch (error) {
      const isLocked = isConflict(error) && error.sqlstate === LOCK_NOT_AVAILABLE;
      if (!isLocked || taken.skips === true || !maySkip) throw error;
    }
  }
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
  const ofLockedUsers: Order[] = [];
  const ofLockedMakers: Order[] = [];
  const final: VersionedResult[] = [];
  results.forEach((result, index) => {
    const order = orders[index];
    if (order === undefined) return;
    const isLate = now() - order.since >= unfinishedForMs;
    const isUserBusy = result.code === "USER_BUSY";
    const isMakerBusy = result.code === "MAKER_BUSY";
    const isMarketBusy = result.code === "MARKET_BUSY";
    if (result.code === "MARKET_DEEP") onDeep(order);
    else if ((isUserBusy || isMakerBusy) && isLate) order.reject(new DatabaseFailure("conflict"));
    else if (isUserBusy) ofLockedUsers.push(order);
    else if (isMakerBusy) ofLockedMakers.push(order);
    else if (isMarketBusy || isUnfinished(result, order.since, unfinishedForMs, now())) {
      again.push(order);
    } else {
      final.push(result);
      order.resolve(result);
    }
  });
  for (const lane of lanes.of(again)) lanes.goAlone(lane, "busy");
  const left = new Set([...ofLockedUsers, ...ofLockedMakers, ...again]);
  lanes.putBack(orders.filter((order) => left.has(order)));
  lanes.pauseUsers(ofLockedUsers);
  lanes.pauseMarkets(lanes.of(ofLockedMakers));
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
