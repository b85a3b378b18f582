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
import { DatabaseFailure, withRetries } from "../database/failures.ts";
import type { RetryOptions, Turn } from "../database/failures.ts";
import { AMENDMENT_MAKERS, ladder } from "./ladder.ts";
import type { LimitKind } from "./ladder.ts";
import type { Waiting } from "./lane.ts";
import type { Lanes } from "./lanes.ts";
import type { Walks } from "./walks.ts";

/**
 * Calls for one thing: a batch that is placed as a whole, an amendment, an order that calls of many
 * could not place.
 */

export interface WholeCallContext {
  pool: Pool;
  limiter: CallLimiter<LimitKind>;
  /** What has the same name goes one after the other. */
  queues: CallLimiter<"one">;
  lanes: Lanes;
  walks: Walks;
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

/** When a call looks again whether orders of its market go first. */
const LANE_TURN_MS = 5;

const NO_KEY = { idempotencyKey: null, requestFingerprint: null };

/** One call for orders that are placed together or not at all, made until it is finished. */
export async function placeAllOrNone(
  context: WholeCallContext,
  orders: OrderRequest[],
): Promise<VersionedResult[]> {
  const results = await placeWhole(context, { orders, atomic: true });
  if (results.length !== orders.length) {
    const counted = `${results.length} results to ${orders.length} orders`;
    throw new RangeError(`api.run_orders returned ${counted}`);
  }
  noteBatch(context, results, { atomic: true });
  return results;
}

/** One call for a batch with a key, made until it is finished. Its result has those of the orders. */
export async function placeKeyed(
  context: WholeCallContext,
  batch: KeyedBatch,
): Promise<VersionedResult> {
  const result = onlyOf(await placeWhole(context, batch));
  if (result.code === null && !result.replayed) {
    noteBatch(context, resultsIn(result.body).results, batch);
  }
  return result;
}

/** Of an atomic batch that is rejected, no order was placed: also those that nothing is wrong with. */
function noteBatch(
  { onCommitted }: WholeCallContext,
  results: CommandResult[],
  { atomic }: { atomic: boolean },
): void {
  const rejected = atomic ? results.find(({ code }) => code !== null) : undefined;
  onCommitted(rejected === undefined ? results : results.map(() => rejected));
}

/** The results of the orders of a batch with a key. */
export function resultsIn(body: string): { results: CommandResult[]; balance: unknown } {
  return JSON.parse(body) as ReturnType<typeof resultsIn>;
}

async function placeWhole(
  context: WholeCallContext,
  batch: KeyedBatch | { orders: OrderRequest[]; atomic: boolean },
): Promise<VersionedResult[]> {
  const isKeyed = "idempotencyKey" in batch;
  const { orders } = batch;
  const own = isKeyed ? [batch.userId] : [];
  const userIds = [...new Set([...own, ...orders.map(({ userId }) => userId)])];
  const marketIds = [...new Set(orders.map(({ marketId }) => marketId))];
  const whole: WholeCall = {
    ...{ userIds, marketIds, isRepeatable: isKeyed },
    queueNames: userIds.map((userId) => `batch ${userId}`),
    mostMakers: ladder.alone.mostMakers,
    ...(isKeyed && { isRejected: hasRejections }),
  };
  return await makeWhole(context, whole, (client, mostMakers) =>
    call(client, api.runOrders, { ...ALL_ORDERS, ...batch, mostMakers }),
  );
}

/** Gives an order another price or quantity, by one call that is made until it is finished. */
export async function amend(
  context: WholeCallContext,
  amendment: Amendment,
): Promise<VersionedResult> {
  const given = { command: "amend", marketId: null, ...NO_KEY, ...amendment } as const;
  const { userId } = amendment;
  const whole: WholeCall = {
    ...{ userIds: [userId], marketIds: [], isRepeatable: false },
    queueNames: [`amendment ${userId}`],
    mostMakers: AMENDMENT_MAKERS,
  };
  const results = await makeWhole(context, whole, async (client, mostMakers) => [
    await call(client, api.runCommand, { ...given, mostMakers }),
  ]);
  return onlyOf(results);
}

/**
 * Places an order that calls of many could not place, and takes its token before, if that is due. If a
 * call is lost, it is not made again.
 */
export async function placeApart(
  context: WholeCallContext,
  { request, token, until }: Pick<Waiting, "request" | "token" | "until">,
): Promise<PlacedOrder> {
  const { marketId, userId } = request;
  const whole: WholeCall = {
    ...{ userIds: [userId], marketIds: [marketId], isRepeatable: false },
    queueNames: [`order ${userId} in ${marketId}`],
    mostMakers: ladder.alone.mostMakers,
    ...{ until, token },
  };
  const placed = makeWhole(context, whole, (client, mostMakers) =>
    call(client, api.runOrders, { ...ALL_ORDERS, orders: [request], mostMakers }),
  );
  const results = await placed.catch((error: unknown) => {
    // It had no turn in its time.
    const isLate = error instanceof DatabaseFailure && error.kind === "overloaded";
    throw isLate ? new DatabaseFailure("conflict") : error;
  });
  const result = onlyOf(results);
  context.onCommitted([result]);
  return result;
}

/** The result of a call for one thing. */
function onlyOf<Result>([result]: Result[]): Result {
  if (result === undefined) throw new RangeError("a call returned no result");
  return result;
}

interface WholeCall {
  userIds: string[];
  /** Without them, AGAIN names the market. */
  marketIds: string[];
  /** What has the same name goes in its order, one at a time. */
  queueNames: string[];
  isRepeatable: boolean;
  /** It goes alone if it can meet no more than these. */
  mostMakers: number | null;
  /** It is not counted yet. */
  token?: Waiting["token"];
  /** Until when an order of a lane is made again. Others are for as long as a request waits. */
  until?: number;
  /** Whether it is rejected as a whole or in part; if not given, by the codes of its results. */
  isRejected?: (result: VersionedResult) => boolean;
}

/**
 * Makes a call as `alone`, and if it could meet too many makers, as `single`. Between the two it keeps
 * its place in its queue. What was long as `single` and is rejected has walked; see walks.ts.
 */
async function makeWhole<Result extends VersionedResult>(
  context: WholeCallContext,
  whole: WholeCall,
  makeCall: (client: PoolClient, mostMakers: number | null) => Promise<Result[]>,
): Promise<Result[]> {
  const { limiter, queues, walks } = context;
  const { userIds, marketIds, queueNames, mostMakers, isRejected = isCoded } = whole;
  const inTime = patienceOf(context, whole);
  const goAlone = () => {
    const bounded = (client: PoolClient) => makeCall(client, mostMakers);
    if (whole.until !== undefined) return goApart(context, whole, { rung: "alone" }, bounded);
    const holds = { alone: "", user: userIds, market: marketIds };
    const turn = limiter.turn(`${queueNames.join()} alone`, holds);
    return untilDone(context, { ...whole, turn }, bounded);
  };
  const isForNothing = (results: Result[]) =>
    results.some((result) => result.code !== "CONFLICT_RETRY" && isRejected(result));
  return await queues.turn(
    queueNames.join(),
    { one: queueNames },
    inTime,
  )(async () => {
    await whole.token?.take(inTime.patienceMs?.());
    const results = await goAlone();
    const again = results.find(({ code }) => code === "AGAIN");
    if (again === undefined) return results;
    const single = { ...whole, marketIds: marketIds.length > 0 ? marketIds : [again.body] };
    const going = { rung: "single", restMs: () => walks.restMs(single) } as const;
    return await goApart(context, single, going, (client) =>
      walks.watch(single, () => makeCall(client, null), isForNothing),
    );
  });
}

/** How long it waits for a turn or its token, if not for as long as any request. */
const patienceOf = ({ now }: WholeCallContext, { until }: WholeCall) =>
  until === undefined ? {} : { patienceMs: () => Math.max(0, until - now()) };

/**
 * Makes a call while the lanes of its markets begin none. Of each market one goes at a time, since
 * another would wait for its lock, and orders of the lane go before the next one.
 */
async function goApart<Result extends VersionedResult>(
  context: WholeCallContext,
  whole: WholeCall,
  { rung, restMs = () => 0 }: { rung: "alone" | "single"; restMs?: () => number },
  makeCall: (client: PoolClient) => Promise<Result[]>,
): Promise<Result[]> {
  const { lanes, limiter } = context;
  const { marketIds, queueNames, userIds } = whole;
  const holds = { [rung]: "", user: userIds, one: marketIds };
  const turn = limiter.turn(`${queueNames.join()} ${rung}`, holds, {
    ...patienceOf(context, whole),
    restMs: () => Math.max(restMs(), lanes.goFirst(marketIds) ? LANE_TURN_MS : 0),
  });
  return await untilDone(context, { ...whole, turn }, (client) =>
    lanes.blockDuring(marketIds, () => makeCall(client)),
  );
}

/**
 * Makes a call, each time in its turn and its time, until locks are free and all is finished. One call
 * cancels a bounded number of makers that fail revalidation: if it meets more, it only cancels these
 * and returns CONFLICT_RETRY.
 */
async function untilDone<Result extends VersionedResult>(
  { now, pool, retries, unfinishedForMs }: WholeCallContext,
  { isRepeatable, turn, until }: { isRepeatable: boolean; turn: Turn; until?: number },
  makeCall: (client: PoolClient) => Promise<Result[]>,
): Promise<Result[]> {
  const began = now();
  const leftMs = until === undefined ? Infinity : Math.max(0, until - began);
  const finishingMs = Math.min(leftMs, unfinishedForMs);
  const inTime: Turn = (attempt) =>
    turn(async () => {
      // Such a failure is not repeated.
      if (until !== undefined && until <= now()) throw new DatabaseFailure("overloaded");
      return await attempt();
    });
  const options = {
    lockPatienceMs: Math.min(leftMs, REQUEST_PATIENCE_MS),
    ...{ ...retries, turn: inTime, repeatable: isRepeatable },
  };
  for (;;) {
    const results = await withRetries(pool, makeCall, options);
    const isUnfinished = results.some(({ code }) => code === "CONFLICT_RETRY");
    if (!isUnfinished || now() - began >= finishingMs) return results;
  }
}

const isCoded = ({ code }: VersionedResult) => code !== null;

/** Whether a batch with a key is rejected, or some of its orders are. A replay is not. */
function hasRejections({ body, code, replayed }: VersionedResult): boolean {
  if (code !== null) return true;
  return !replayed && resultsIn(body).results.some((result) => result.code !== null);
}
