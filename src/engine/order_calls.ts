import type { PoolClient } from "pg";
import { call } from "../database/call.ts";
import { ALL_ORDERS, api } from "../database/calls.ts";
import type { PlacedOrder } from "../database/calls.ts";
import { DatabaseFailure, isLockTimeout, withRetries } from "../database/failures.ts";
import type { Turn } from "../database/failures.ts";
import { ladder, LANES } from "./ladder.ts";
import type { LaneRung } from "./ladder.ts";
import { isDeep } from "./lane.ts";
import type { Waiting } from "./lane.ts";
import { placeApart } from "./whole_calls.ts";
import type { WholeCallContext } from "./whole_calls.ts";

/** The calls of the gatherer, and what becomes of the orders that they bring. */

export interface CallContext extends WholeCallContext {
  /** Instead of what the ladder has. */
  mostMakers: number | undefined;
  whilePaying: WhilePaying;
}

/** Makes a call that takes tokens of these users, while their other requests wait. */
export type WhilePaying = <T>(userIds: string[], call: () => Promise<T>) => Promise<T>;

/** What a call of a rung took, and what of it it sends. */
interface Taken {
  rung: LaneRung;
  orders: Waiting[];
  sent: Waiting[];
  /** Orders of its lane climb: what is locked there may be so for long. */
  isTroubled: boolean;
}

/**
 * Makes a call and answers its orders. Those that were told AGAIN are placed again, or climb. It takes
 * them once it has its turn and a connection, since more may have come. Then, or if it got none, it
 * calls `onTaken`.
 */
export async function makeCall(
  context: CallContext,
  rung: LaneRung,
  onTaken: () => void,
): Promise<void> {
  const { lanes, limiter } = context;
  let taken: Taken | undefined;
  let results: PlacedOrder[] | undefined;
  const takeOnce = (): Taken => {
    if (taken === undefined) {
      taken = take(context, rung);
      onTaken();
    }
    return taken;
  };
  const turn: Turn = rung === "alone" ? limiter.turn(LANES, { alone: "" }) : (attempt) => attempt();
  try {
    results = await turn(() =>
      // A lock that lasts longer than a moment concerns some of the orders. The others go on.
      send(context, takeOnce, { waits: true }).catch((error: unknown) => {
        if (!isLockTimeout(error)) throw error;
        return send(context, takeOnce, { waits: false });
      }),
    );
    answer(context, takeOnce(), results);
  } catch (error) {
    if (taken === undefined) {
      // Without a turn or a connection, orders that came later would fail in the same way.
      rejectAll(lanes.takeAll(rung), error);
      onTaken();
    }
    // It is committed: its orders must not be placed again.
    else if (results !== undefined) rejectAll(taken.sent, error);
    else fail(context, taken, error);
  } finally {
    lanes.end(taken?.orders ?? []);
  }
}

/** Takes the orders of a call. What is late is rejected, and what is deep climbs out of a lane's call. */
function take(context: CallContext, rung: LaneRung): Taken {
  const { lanes, now } = context;
  const orders = lanes.take(rung);
  const isTroubled = rung === "alone" && lanes.areClimbing(orders);
  const at = now();
  const isOver = ({ until }: Waiting) => until <= at;
  rejectAll(orders.filter(isOver), new DatabaseFailure("conflict"));
  const inTime = orders.filter((order) => !isOver(order));
  const goesApart = (order: Waiting) => rung === "alone" && isDeep(order);
  climb(context, inTime.filter(goesApart));
  return { rung, orders, sent: inTime.filter((order) => !goesApart(order)), isTroubled };
}

async function send(
  { mostMakers, pool, retries, whilePaying }: CallContext,
  takeOnce: () => Taken,
  { waits }: { waits: boolean },
): Promise<PlacedOrder[]> {
  const attempt = async (client: PoolClient): Promise<PlacedOrder[]> => {
    const { isTroubled, rung, sent } = takeOnce();
    if (sent.length === 0) return [];
    const payers = sent.map(({ token, request }) => (token === undefined ? null : request.userId));
    const paying = payers.filter((userId) => userId !== null);
    const run = () =>
      call(client, api.runOrders, {
        ...ALL_ORDERS,
        orders: sent.map(({ request }) => request),
        waits: waits && rung === "alone",
        skips: !waits || isTroubled,
        mostMakers: mostMakers ?? ladder[rung].mostMakers,
        payers: paying.length === 0 ? null : payers,
      });
    return await (paying.length === 0 ? run() : whilePaying(paying, run));
  };
  return await withRetries(pool, attempt, { ...retries, exceptConflicts: true });
}

/** Gives orders their results. */
function answer(context: CallContext, taken: Taken, results: PlacedOrder[]): void {
  const { now, onCommitted } = context;
  const { sent } = taken;
  if (results.length !== sent.length) {
    // The call is committed, so it is not repeated, and no result belongs to a certain order.
    const counted = `${results.length} results to ${sent.length} orders`;
    rejectAll(sent, new RangeError(`api.run_orders returned ${counted}`));
    return;
  }
  const again: Waiting[] = [];
  const unpaid: Waiting[] = [];
  const final: { order: Waiting; result: PlacedOrder }[] = [];
  results.forEach((result, index) => {
    const order = sent[index];
    if (order === undefined) return;
    const isUnpaid = order.token !== undefined && result.remaining === null;
    if (isUnpaid) {
      // Its bucket is locked. It takes its token by a call of its own, or waits behind others.
      const isBehind = again.some((other) => !climbs(taken, other) && areOfOneQueue(other, order));
      (isBehind && order.until > now() ? again : unpaid).push(order);
    }
    if (isUnpaid || !pay(order, result)) return;
    const isAgain = result.code === "AGAIN" || result.code === "CONFLICT_RETRY";
    if (isAgain && order.until > now()) again.push(order);
    else if (result.code === "AGAIN") order.reject(new DatabaseFailure("conflict"));
    else final.push({ order, result });
  });
  placeAgain(context, taken, again);
  climb(context, unpaid);
  if (sent.length > 0) onCommitted(final.map(({ result }) => result));
  // The next call begins first: the database works on it while the server writes these answers.
  setImmediate(() => {
    for (const { order, result } of final) order.resolve(result);
  });
}

const areOfOneQueue = ({ request: one }: Waiting, { request: other }: Waiting): boolean =>
  one.userId === other.userId && one.marketId === other.marketId;

/** Gives an order what its call took. Returns whether it is paid for. */
function pay(order: Waiting, result: PlacedOrder): boolean {
  if (order.token === undefined) return true;
  try {
    order.token.taken({ ...result, allowed: result.code !== "TOO_MANY_REQUESTS" });
  } catch (error) {
    order.reject(error);
    return false;
  }
  order.token = undefined;
  return true;
}

/** Of a call of one lane only the first order that it sent is sure to have been the reason. It climbs. */
const climbs = ({ rung, sent }: Taken, order: Waiting): boolean =>
  rung === "alone" && order === sent[0];

function placeAgain(context: CallContext, taken: Taken, again: Waiting[]): void {
  context.lanes.putBehind(again.filter((order) => !climbs(taken, order)));
  climb(
    context,
    again.filter((order) => climbs(taken, order)),
  );
}

/** Places orders by calls of their own, while their lanes go on with those of other users. */
function climb(context: CallContext, orders: Waiting[]): void {
  for (const order of orders) {
    const place = () => placeApart(context, order).then(order.resolve, order.reject);
    void context.lanes.holdDuring(order, place);
  }
}

/** A call failed. If it had no effect, its orders are placed again: only some of them caused it. */
function fail(context: CallContext, taken: Taken, error: unknown): void {
  const { sent } = taken;
  const at = context.now();
  const isConflict = error instanceof DatabaseFailure && error.kind === "conflict";
  const isOfOne = !(error instanceof DatabaseFailure) && sent.length > 1;
  const isAgain = ({ until }: Waiting) => (isConflict ? until > at : isOfOne);
  rejectAll(
    sent.filter((order) => !isAgain(order)),
    error,
  );
  placeAgain(context, taken, sent.filter(isAgain));
}

function rejectAll(orders: Waiting[], error: unknown): void {
  for (const order of orders) order.reject(error);
}
