import type { Pool } from "pg";
import { call } from "../database/call.ts";
import { REQUEST_PATIENCE_MS } from "../database/call_limiter.ts";
import type { CallLimiter } from "../database/call_limiter.ts";
import { ALL_ORDERS, api } from "../database/calls.ts";
import type { CommandResult, OrderRequest, VersionedResult } from "../database/calls.ts";
import { withRetries } from "../database/failures.ts";
import type { RetryOptions } from "../database/failures.ts";
import { workOfAll } from "./choose_orders.ts";
import { rungOf } from "./ladder.ts";
import type { CommandKind } from "./ladder.ts";
import { untilFinished } from "./unfinished.ts";
import type { Walks } from "./walks.ts";

/** Batches that are placed as a whole, in calls of their own, from the rung `alone` on. */

export interface BatchContext {
  pool: Pool;
  limiter: CallLimiter<CommandKind>;
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

/** One call for orders that are placed together or not at all, made until it is finished. */
export async function placeAllOrNone(
  context: BatchContext,
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
  context: BatchContext,
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
  { limiter, now, pool, retries, unfinishedForMs, walks }: BatchContext,
  batch: KeyedBatch | { orders: OrderRequest[]; atomic: boolean },
): Promise<VersionedResult[]> {
  const isKeyed = "idempotencyKey" in batch;
  const { orders } = batch;
  const own = isKeyed ? [batch.userId] : [];
  const user = [...new Set([...own, ...orders.map(({ userId }) => userId)])];
  const market = [...new Set(orders.map(({ marketId }) => marketId))];
  const rung = rungOf(orders);
  const single = { marketIds: market, userIds: user };
  const line = `batch ${user.join()}`;
  const holds = { [rung]: "", one: user.map((userId) => `batch ${userId}`), user, market };
  const turn = limiter.turn(line, holds, () => (rung === "single" ? walks.restMs(single) : 0));
  const options = { lockPatienceMs: REQUEST_PATIENCE_MS, ...retries, repeatable: isKeyed, turn };
  const watch = walks.watch(single);
  const placeOnce = () =>
    withRetries(
      pool,
      (client) => watch.time(() => call(client, api.runOrders, { ...ALL_ORDERS, ...batch })),
      options,
    );
  const results = await untilFinished(placeOnce, { forMs: unfinishedForMs, now });
  if (rung === "single") watch.end(isRejected(results, batch), workOfAll(orders));
  return results;
}

/** Why an order is rejected that may have met many makers before. */
const ON_THE_WAY = new Set([
  ...["CONFLICT_RETRY", "INSUFFICIENT_BALANCE", "INSUFFICIENT_LIQUIDITY"],
  ...["LOSS_LIMIT", "SELF_TRADE_BLOCKED"],
]);

/** Whether a batch placed nothing, or, if each of its orders stands alone, most walked for nothing. */
function isRejected(results: VersionedResult[], batch: KeyedBatch | { atomic: boolean }): boolean {
  const all = results.flatMap<Pick<CommandResult, "code">>((result) =>
    "idempotencyKey" in batch && result.code === null ? resultsIn(result.body).results : result,
  );
  if (batch.atomic) return all.some(({ code }) => code !== null);
  return 2 * all.filter(({ code }) => ON_THE_WAY.has(code ?? "")).length > all.length;
}
