import type { Pool, PoolClient } from "pg";
import { call } from "../database/call.ts";
import { ALL_ORDERS, api } from "../database/calls.ts";
import type { CommandResult, PlacedOrder } from "../database/calls.ts";
import { DatabaseFailure, isLockTimeout, withRetries } from "../database/failures.ts";
import type { RetryOptions } from "../database/failures.ts";
import { ladder } from "./ladder.ts";
import { isDeep } from "./lane.ts";
import type { Waiting } from "./lane.ts";
import type { Lane, Lanes } from "./lanes.ts";

/** The calls of the gatherer, and what becomes of the orders that they bring. */

export interface CallContext {
  pool: Pool;
  lanes: Lanes;
  retries: RetryOptions | undefined;
  /** Instead of what the ladder has. */
  mostMakers: number | undefined;
  whilePaying: WhilePaying;
  /** Places an order by calls of its own. */
  climb: (order: Waiting) => void;
  now: () => number;
  onCommitted: (results: CommandResult[]) => void;
}

/** Makes a call that takes tokens of these users, while their other requests wait. */
export type WhilePaying = <T>(userIds: string[], call: () => Promise<T>) => Promise<T>;

interface CallPlan {
  /** Takes its orders, once it has a connection: more may have come. */
  take: () => Waiting[];
  /** Of a call of one lane, on the rung `alone`. */
  lane?: Lane;
}

/** What a call took, and what of it it sent. */
interface Taken {
  orders?: Waiting[];
  sent: Waiting[];
}

/** Makes a call and answers its orders. Those that were told AGAIN are placed again, or climb. */
export async function makeCall(context: CallContext, plan: CallPlan): Promise<void> {
  const { lanes } = context;
  const taken: Taken = { sent: [] };
  /** Their lanes go alone next. */
  let failed: Waiting[] = [];
  let results: PlacedOrder[] | undefined;
  try {
    // A lock that lasts longer than a moment concerns some of the orders. The others go on.
    results = await send(context, plan, taken, { waits: true }).catch((error: unknown) => {
      if (!isLockTimeout(error)) throw error;
      return send(context, plan, taken, { waits: false });
    });
    failed = answer(context, plan, taken, results);
  } catch (error) {
    // Without a connection, orders that came later would fail in the same way.
    if (taken.orders === undefined) rejectAll(lanes.takeAll(plan.lane), error);
    // It is committed: its orders must not be placed again.
    else if (results !== undefined) rejectAll(taken.sent, error);
    else failed = fail(context, plan, taken.sent, error);
  } finally {
    const ended = lanes.of(taken.orders ?? []);
    if (plan.lane !== undefined) ended.add(plan.lane);
    lanes.end(ended, lanes.of(failed));
  }
}

async function send(
  { climb, mostMakers, now, pool, retries, whilePaying }: CallContext,
  { lane, take }: CallPlan,
  taken: Taken,
  { waits }: { waits: boolean },
): Promise<PlacedOrder[]> {
  const rung = lane === undefined ? ladder.shared : ladder.alone;
  const isTroubled = lane?.climbing.isEmpty() === false;
  const attempt = async (client: PoolClient): Promise<PlacedOrder[]> => {
    if (taken.orders === undefined) {
      taken.orders = take();
      const at = now();
      const isOver = ({ until }: Waiting) => until <= at;
      rejectAll(taken.orders.filter(isOver), new DatabaseFailure("conflict"));
      const inTime = taken.orders.filter((order) => !isOver(order));
      const goesApart = (order: Waiting) => lane !== undefined && isDeep(order);
      inTime.filter(goesApart).forEach(climb);
      taken.sent = inTime.filter((order) => !goesApart(order));
    }
    if (taken.sent.length === 0) return [];
    const payers = taken.sent.map(({ token, request }) =>
      token === undefined ? null : request.userId,
    );
    const paying = payers.filter((userId) => userId !== null);
    const run = () =>
      call(client, api.runOrders, {
        ...ALL_ORDERS,
        orders: taken.sent.map(({ request }) => request),
        waits: waits && lane !== undefined,
        skips: !waits || isTroubled,
        mostMakers: mostMakers ?? rung.mostMakers,
        payers: paying.length === 0 ? null : payers,
      });
    return await (paying.length === 0 ? run() : whilePaying(paying, run));
  };
  return await withRetries(pool, attempt, { ...retries, exceptConflicts: true });
}

/** Gives orders their results. Returns those whose lanes go alone next. */
function answer(
  context: CallContext,
  plan: CallPlan,
  { sent }: Taken,
  results: PlacedOrder[],
): Waiting[] {
  const { climb, now, onCommitted } = context;
  if (results.length !== sent.length) {
    // The call is committed, so it is not repeated, and no result belongs to a certain order.
    const counted = `${results.length} results to ${sent.length} orders`;
    rejectAll(sent, new RangeError(`api.run_orders returned ${counted}`));
    return [];
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
      const isBehind = again.some(
        (other) => !climbs(plan, sent, other) && areOfOneQueue(other, order),
      );
      (isBehind && order.until > now() ? again : unpaid).push(order);
    }
    if (isUnpaid || !pay(order, result)) return;
    const isAgain = result.code === "AGAIN" || result.code === "CONFLICT_RETRY";
    if (isAgain && order.until > now()) again.push(order);
    else if (result.code === "AGAIN") order.reject(new DatabaseFailure("conflict"));
    else final.push({ order, result });
  });
  placeAgain(context, plan, sent, again);
  unpaid.forEach(climb);
  if (sent.length > 0) onCommitted(final.map(({ result }) => result));
  // The next call begins first: the database works on it while the server writes these answers.
  setImmediate(() => {
    for (const { order, result } of final) order.resolve(result);
  });
  return again;
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
const climbs = ({ lane }: CallPlan, [first]: Waiting[], order: Waiting): boolean =>
  lane !== undefined && order === first;

function placeAgain(
  { climb, lanes }: CallContext,
  plan: CallPlan,
  sent: Waiting[],
  again: Waiting[],
) {
  lanes.putBehind(again.filter((order) => !climbs(plan, sent, order)));
  again.filter((order) => climbs(plan, sent, order)).forEach(climb);
}

/** A call failed. If it had no effect, its orders are placed again: only some of them caused it. */
function fail(context: CallContext, plan: CallPlan, sent: Waiting[], error: unknown): Waiting[] {
  const at = context.now();
  const isConflict = error instanceof DatabaseFailure && error.kind === "conflict";
  const isOfOne = !(error instanceof DatabaseFailure) && sent.length > 1;
  const isAgain = ({ until }: Waiting) => (isConflict ? until > at : isOfOne);
  rejectAll(
    sent.filter((order) => !isAgain(order)),
    error,
  );
  placeAgain(context, plan, sent, sent.filter(isAgain));
  return sent;
}

export function rejectAll(orders: Waiting[], error: unknown): void {
  for (const order of orders) order.reject(error);
}
