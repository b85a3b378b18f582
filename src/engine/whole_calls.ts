import type { Pool, PoolClient } from "pg";
import { call } from "../database/call.ts";
import { REQUEST_PATIENCE_MS } from "../database/call_limiter.ts";
import type { CallLimiter } from "../database/call_limiter.ts";
import { ALL_ORDERS, api } from "../database/calls.ts";
import type {
  CommandResult,
  OrderRequest,
  PlacedOrder,
  VersionedResult,
} from "../database/calls.ts";
import { withRetries } from "../database/failures.ts";
import type { RetryOptions, Turn } from "../database/failures.ts";
import { AMENDMENT_MAKERS, ladder } from "./ladder.ts";
import type { CommandKind } from "./ladder.ts";
import { untilFinished } from "./unfinished.ts";
import type { Walks } from "./walks.ts";

/**
 * Calls for one thing: a batch that is placed as a whole, an amendment, an order that calls of many
 * could not place.
 */

export interface WholeCallContext {
  pool: Pool;
  limiter: CallLimiter<CommandKind>;
  walks: Walks;
  /** Makes a call while the lanes of these markets begin none. */
  keepingLanes: <T>(marketIds: string[], call: () => Promise<T>) => Promise<T>;
  retries: RetryOptions | undefined;
  unfinishedForMs: number;
  now: () => number;
  onCommitted: (results: CommandResult[]) => void;
}

/** The orders of a user that are placed with one idempotency key. */
export interface KeyedBatch {
  userId: string;
  orders: OrderRequest[];
  atomic: boolean;
  idempotencyKey: string;
  requestFingerprint: string;
}

/** A new price or quantity of an order. */
export interface Amendment {
  userId: string;
  orderId: string;
  price: number | null;
  quantity: number | null;
  idempotencyKey?: string;
  requestFingerprint?: string;
}

const NO_KEY = { idempotencyKey: null, requestFingerprint: null };

/** One call for orders that are placed together or not at all, made until it is finished. */
export async function placeAllOrNone(
  context: WholeCallContext,
  orders: OrderRequest[],
): Promise<VersionedResult[]> {
  const results = await run(context, { orders, atomic: true });
  if (results.length !== orders.length) {
    const counted = `${results.length} results to ${orders.length} orders`;
    throw new RangeError(`api.run_orders returned ${counted}`);
  }
  if (results.every(({ code }) => code === null)) context.onCommitted(results);
  return results;
}

/** One call for a batch with a key, made until it is finished. Its result has those of the orders. */
export async function placeKeyed(
  context: WholeCallContext,
  batch: KeyedBatch,
): Promise<VersionedResult> {
  const [result] = await run(context, batch);
  if (result === undefined) throw new RangeError("api.run_orders returned no result to a batch");
  if (result.code === null && !result.replayed) {
    context.onCommitted(resultsIn(result.body).results);
  }
  return result;
}

/** The results of the orders of a batch with a key. */
export function resultsIn(body: string): { results: CommandResult[]; balance: unknown } {
  return JSON.parse(body) as ReturnType<typeof resultsIn>;
}

/** The batches of one user are a line, and go one at a time. */
async function run(
  context: WholeCallContext,
  batch: KeyedBatch | { orders: OrderRequest[]; atomic: boolean },
): Promise<VersionedResult[]> {
  const isKeyed = "idempotencyKey" in batch;
  const { orders } = batch;
  const own = isKeyed ? [batch.userId] : [];
  const userIds = [...new Set([...own, ...orders.map(({ userId }) => userId)])];
  const marketIds = [...new Set(orders.map(({ marketId }) => marketId))];
  const placing: Climbing = {
    ...{ kind: "batch", userIds, marketIds, isRepeatable: isKeyed },
    mostMakers: ladder.alone.mostMakers,
    isRejected: isKeyed ? hasRejections : ({ code }) => code !== null,
  };
  return await climb(context, placing, (client, mostMakers) =>
    call(client, api.runOrders, { ...ALL_ORDERS, ...batch, mostMakers }),
  );
}

/** Gives an order another price or quantity, by one call that is made until it is finished. */
export async function amend(
  context: WholeCallContext,
  amendment: Amendment,
): Promise<VersionedResult> {
  const given = { command: "amend", marketId: null, ...NO_KEY, ...amendment } as const;
  const amending: Climbing = {
    ...{ kind: "amendment", userIds: [amendment.userId], isRepeatable: false },
    mostMakers: AMENDMENT_MAKERS,
    isRejected: ({ code }) => code !== null,
  };
  const [result] = await climb(context, amending, async (client, mostMakers) => [
    await call(client, api.runCommand, { ...given, mostMakers }),
  ]);
  if (result === undefined) throw new RangeError("api.run_command returned nothing");
  return result;
}

/** Places an order by a single call. If that is lost, it is not made again. */
export async function placeSingle(
  context: WholeCallContext,
  order: OrderRequest,
): Promise<PlacedOrder> {
  const { marketId, userId } = order;
  const isWalker = context.walks.hasWalked(marketId, userId);
  const single: Single<PlacedOrder> = {
    ...{ userIds: [userId], marketIds: [marketId], isRepeatable: false },
    // Walkers rest for longer than others, who do not wait for them.
    line: isWalker ? `order ${userId} in ${marketId}` : `orders in ${marketId}`,
    one: [`orders in ${marketId}`],
    resting: isWalker ? [userId] : [],
    isRejected: ({ code }) => code !== null,
  };
  const [result] = await makeSingle(context, single, (client) =>
    call(client, api.runOrders, { ...ALL_ORDERS, orders: [order] }),
  );
  if (result === undefined) throw new RangeError("api.run_orders returned nothing");
  context.onCommitted([result]);
  return result;
}

interface Climbing {
  kind: "batch" | "amendment";
  userIds: string[];
  /** Without them, AGAIN names the market. */
  marketIds?: string[];
  isRepeatable: boolean;
  /** It goes alone if it can meet no more than these. */
  mostMakers: number | null;
  isRejected: (result: VersionedResult) => boolean;
}

/** Makes a call as `alone`, and if it could meet too many makers, as `single`. */
async function climb(
  context: WholeCallContext,
  climbing: Climbing,
  makeCall: (client: PoolClient, mostMakers: number | null) => Promise<VersionedResult[]>,
): Promise<VersionedResult[]> {
  const { kind, userIds, marketIds: market = [], isRepeatable, mostMakers } = climbing;
  const one = userIds.map((userId) => `${kind} ${userId}`);
  const turn = context.limiter.turn(one.join(), { alone: "", one, user: userIds, market });
  const results = await untilDone(context, { turn, isRepeatable }, (client) =>
    makeCall(client, mostMakers),
  );
  const [again] = results.filter(({ code }) => code === "AGAIN");
  if (again === undefined) return results;

  const marketIds = market.length > 0 ? market : [again.body];
  // A line of its own: while it rests, its users go on in other markets.
  const line = `${one.join()} in ${marketIds.join()}`;
  const single = { ...climbing, marketIds, line, one, resting: userIds };
  return await makeSingle(context, single, (client) => makeCall(client, null));
}

interface Single<Result> {
  userIds: string[];
  marketIds: string[];
  isRepeatable: boolean;
  /** Calls of the same line go in their order; of the same name one at a time. */
  line: string;
  one: string[];
  /** Those of its users who rest after walks of theirs; the others rest after any. */
  resting: string[];
  isRejected: (result: Result) => boolean;
}

/** Makes a single call. What was long and is rejected has walked; see walks.ts. */
async function makeSingle<Result extends CommandResult>(
  context: WholeCallContext,
  { line, one, resting, userIds, marketIds, isRepeatable, isRejected }: Single<Result>,
  makeCall: (client: PoolClient) => Promise<Result[]>,
): Promise<Result[]> {
  const { keepingLanes, limiter, walks } = context;
  const holds = { single: "", one, user: userIds, market: marketIds };
  const turn = limiter.turn(line, holds, () => walks.restMs({ marketIds, userIds: resting }));
  const isForNothing = (results: Result[]) =>
    results.some((result) => result.code !== "CONFLICT_RETRY" && isRejected(result));
  return await untilDone(context, { turn, isRepeatable }, (client) =>
    keepingLanes(marketIds, () =>
      walks.watch({ marketIds, userIds }, () => makeCall(client), isForNothing),
    ),
  );
}

/** Makes a call, in its turn, until locks are free and all is finished. */
async function untilDone<Result extends CommandResult>(
  { now, pool, retries, unfinishedForMs }: WholeCallContext,
  { turn, isRepeatable }: { turn: Turn; isRepeatable: boolean },
  makeCall: (client: PoolClient) => Promise<Result[]>,
): Promise<Result[]> {
  const options = { lockPatienceMs: REQUEST_PATIENCE_MS, ...retries, repeatable: isRepeatable };
  const attempts = () => withRetries(pool, makeCall, { ...options, turn });
  return await untilFinished(attempts, { forMs: unfinishedForMs, now });
}

/** Whether a batch with a key is rejected, or some of its orders are. A replay is not. */
function hasRejections({ body, code, replayed }: VersionedResult): boolean {
  if (code !== null) return true;
  return !replayed && resultsIn(body).results.some((result) => result.code !== null);
}
