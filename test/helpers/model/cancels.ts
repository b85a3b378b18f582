import { Refused, cancel, hasExpired, isOpen, isResting, openOf, tellCancelled } from "./state.ts";
import type { ModelOrder, ModelOutcome, Reason, State } from "./state.ts";
import type { Step } from "./programs.ts";

/** How orders are cancelled in the plain rules of rules.ts. */

/** Orders of one market leave its book or their delay: one change of it, if any left the book. */
export function cancelOpen(
  state: State,
  orders: ModelOrder[],
  reason: Reason,
  isTold: boolean,
): void {
  if (orders.some(isResting)) state.markets[orders[0]!.market]!.version += 1;
  for (const order of orders) {
    cancel(order, reason);
    if (isTold) tellCancelled(state, order);
  }
}

/** By its owner. An order that was past its expiry expires, and the cancel is refused. */
export function cancelOne(state: State, number: number): ModelOutcome {
  const order = state.orders[number]!;
  if (!isOpen(order)) throw new Refused("ORDER_NOT_CANCELLABLE");
  const expired = hasExpired(state, order);
  cancelOpen(state, [order], expired ? "expired" : "user_cancelled", expired);
  if (expired) throw new Refused("ORDER_NOT_CANCELLABLE", state);
  const { quantity, filled, status, reason } = order;
  return {
    code: null,
    replayed: false,
    order: { number, quantity, filled, status, reason },
    cents: state.traders[order.trader]!.cents,
  };
}

/** The end of a market's book: orders that were due expire before, which is a change of its own. */
export function endOpen(state: State, orders: ModelOrder[], reason: Reason): void {
  const expired = orders.filter((order) => isResting(order) && hasExpired(state, order));
  if (expired.length > 0) cancelOpen(state, expired, "expired", true);
  const rest = orders.filter((order) => !expired.includes(order));
  if (rest.length > 0) cancelOpen(state, rest, reason, true);
}

/** All open orders of a trader: one change of each market whose book it was. How many there were. */
export function cancelAll(
  state: State,
  { trader, market, isGone }: Extract<Step, { kind: "cancelAll" }>,
): number {
  if (isGone) state.now += 1000;
  const orders = openOf(state, trader)
    .filter((order) => isGone || market === null || order.market === market)
    .sort((one, other) => one.number - other.number);
  endAll(state, orders, "user_cancelled", isGone);
  return orders.filter(({ reason }) => reason === "user_cancelled").length;
}

export function exclude(state: State, index: number, byHand: boolean): void {
  const trader = state.traders[index]!;
  if (trader.excludedUntil > state.now) return;
  trader.excludedUntil = state.now + 3_600_000;
  if (byHand) return;
  endOpenOf(state, index, null, "self_excluded");
}

/** The open orders of a trader, in one market or in all. */
export function endOpenOf(state: State, index: number, only: number | null, reason: Reason): void {
  const orders = openOf(state, index).filter(({ market }) => only === null || only === market);
  endAll(state, orders, reason, true);
}

/** One change of each market whose book they leave. Those past their expiry expire instead. */
function endAll(state: State, orders: ModelOrder[], reason: Reason, isTold: boolean): void {
  for (const changed of new Set(orders.filter(isResting).map((order) => order.market))) {
    state.markets[changed]!.version += 1;
  }
  for (const order of orders) {
    const expired = hasExpired(state, order);
    cancel(order, expired ? "expired" : reason);
    if (expired || isTold) tellCancelled(state, order);
  }
}
