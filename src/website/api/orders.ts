import { realTiming } from "../../client/timing.ts";
import { account } from "./account.ts";
import { ownApi } from "./client.ts";
import { notePaused } from "./exchange.ts";
import { giveCommand } from "./own_changes.ts";
import type { OwnAnswer } from "./own_changes.ts";
import {
  changePending,
  forgetPending,
  isInDoubt,
  isKnownThere,
  notePending,
  pendingOrders,
} from "./pending_order.ts";
import type { PendingOrder } from "./pending_order.ts";
import { isSignedOut, isTemporary, isUncertain, isUnread, resultOf } from "./result.ts";
import type { Problem, Result } from "./result.ts";
import type { AmendedOrder, PlacedOrder } from "./types.ts";

/** How often an order is sent before the user is asked, and how long to wait between. */
const WAITS_MS = [400, 800, 1600, 3200, 6400, 6400, 6400];
/** An answer takes no longer, usually. */
const SLOW_MS = 2000;

const stops = new Map<string, AbortController>();

const stopped: Problem = { status: 0, error: "Stopped", code: "STOPPED" };

/**
 * Places an order. While it is not known what became of it, it is sent again with the same
 * idempotency key, so that it is placed once at most. The key is kept until there is an answer.
 * An order without a limit is sent once: later there may be any price.
 * `isWatched` says whether a page waits for the answer; else it is kept until the user saw it.
 */
export async function placeOrder(
  sent: PendingOrder,
  { isWatched }: { isWatched: boolean },
): Promise<Result<PlacedOrder>> {
  return await giveCommand(
    () => sendUntilAnswered(sent, isWatched),
    (answer) => answerOfPlaced(answer, sent),
  );
}

/** An answer from before, to the same key, says how the order is now, and not the fee. */
function answerOfPlaced(
  { order, balance, feeCents }: PlacedOrder,
  { marketTitle }: PendingOrder,
): OwnAnswer {
  if (feeCents === null && order.status !== "scheduled") return { isNews: true };
  return { balanceCents: balance.total, placed: { ...order, marketTitle } };
}

async function sendUntilAnswered(
  sent: PendingOrder,
  isWatched: boolean,
): Promise<Result<PlacedOrder>> {
  const key = sent.idempotencyKey;
  const pending = {
    ...sent,
    userId: sent.userId ?? account.peek()?.id,
    sentAt: sent.sentAt ?? Date.now(),
  };
  const stop = new AbortController();
  stops.set(key, stop);
  let mayBePlaced = isInDoubt(key);
  notePending({ pending, state: "sending", isWatched });
  const slow = setTimeout(() => {
    changePending(key, { state: "waiting" });
  }, SLOW_MS);
  let result = await send(pending, stop.signal);
  const waits = typeof pending.order.price === "number" ? WAITS_MS : [];
  for (const wait of waits) {
    if (result.ok || !isTemporary(result.problem)) break;
    mayBePlaced ||= isUncertain(result.problem);
    changePending(key, { state: "waiting" });
    await pause(wait, stop.signal);
    // The computer may have slept for longer than the exchange knows the key.
    if (stop.signal.aborted || !isKnownThere(pending)) break;
    result = await send(pending, stop.signal);
  }
  clearTimeout(slow);
  stops.delete(key);
  if (!result.ok && stop.signal.aborted) result = { ok: false, problem: stopped };
  else if (!result.ok && isSignedOut(result.problem)) {
    const code = mayBePlaced ? "SIGNED_OUT_UNKNOWN" : "SIGNED_OUT";
    result = { ok: false, problem: { ...result.problem, code } };
  }
  settle(key, result, mayBePlaced);
  if (!result.ok) notePaused(result.problem.code);
  return result;
}

function settle(key: string, result: Result<PlacedOrder>, mayBePlaced: boolean): void {
  if (!result.ok && isUnknown(result.problem, mayBePlaced)) {
    changePending(key, { state: "unknown" });
    return;
  }
  const entry = pendingOrders.peek().find(({ pending }) => pending.idempotencyKey === key);
  if (entry?.isWatched !== false) forgetPending(key);
  else if (result.ok) changePending(key, { state: "placed" });
  else changePending(key, { state: "refused", problem: result.problem });
}

function isUnknown(problem: Problem, mayBePlaced: boolean): boolean {
  if (isUncertain(problem)) return true;
  return mayBePlaced && (isTemporary(problem) || isUnread(problem));
}

/** Sends an order no more. What became of it is not known then. */
export function stopTrying(key: string): void {
  stops.get(key)?.abort();
}

async function send(
  { idempotencyKey, order }: PendingOrder,
  signal: AbortSignal,
): Promise<Result<PlacedOrder>> {
  const body = { ...order, idempotencyKey };
  return await resultOf(ownApi.POST("/api/v1/orders", { body, signal }));
}

/** Waits; not longer than until the network is there again. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const online = new AbortController();
  const goOn = (): void => {
    online.abort();
  };
  addEventListener("online", goOn);
  const either = AbortSignal.any([signal, online.signal]);
  await realTiming.sleep(milliseconds, either).catch(() => undefined);
  removeEventListener("online", goOn);
}

/** Cancels one of the user's orders. */
export async function cancelOrder(id: string): Promise<Result<unknown>> {
  const request = { params: { path: { id } } };
  return await giveCommand(
    () => resultOf(ownApi.DELETE("/api/v1/orders/{id}", request)),
    () => ({ changed: [{ id, becomes: undefined }] }),
  );
}

/** Changes price, quantity or both of one of the user's orders. */
export async function amendOrder(
  id: string,
  change: { price?: number; quantity?: number },
): Promise<Result<AmendedOrder>> {
  const request = { params: { path: { id } }, body: change };
  const result = await giveCommand(
    () => resultOf(ownApi.PATCH("/api/v1/orders/{id}", request)),
    (amended) => ({
      changed: [{ id, becomes: amended.order }],
      // What it traded moved cash, which the answer does not say.
      isNews: amended.queuePositionChanged && amended.fills.length > 0,
    }),
  );
  if (!result.ok) notePaused(result.problem.code);
  return result;
}

/** Cancels all open orders of the user, or those in a market; `shown` are some of them. */
export async function cancelAllOrders(
  shown: readonly string[],
  marketId?: string,
): Promise<Result<unknown>> {
  const body = marketId === undefined ? {} : { marketId };
  const result = await giveCommand(
    () => resultOf(ownApi.POST("/api/v1/orders/cancel-all", { body })),
    () => ({ changed: shown.map((id) => ({ id, becomes: undefined })), isNews: true }),
  );
  if (result.ok || result.problem.code !== "CONFLICT_RETRY") return result;
  // It is done in several steps.
  return { ok: false, problem: { ...result.problem, code: "PARTLY_CANCELLED" } };
}
