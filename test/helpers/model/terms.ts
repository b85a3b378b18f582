import type { Order } from "./programs.ts";
import type { ModelOrder, State } from "./state.ts";

/** Price and time in force as they take effect. */
export function effective({ budgetCents, orderType, price, timeInForce }: Order) {
  const mayRest = price !== null && budgetCents === null;
  return {
    price: price ?? (orderType === "buy" ? 99 : 1),
    timeInForce: timeInForce === "gtc" && !mayRest ? ("ioc" as const) : timeInForce,
  };
}

/** Whether a request may have asked for an order, which may have been made smaller since. */
export function mayBe(
  state: State,
  order: ModelOrder,
  market: number | null,
  request: Order,
): boolean {
  const { price, timeInForce } = effective(request);
  const expiresAt = request.expiresIn === null ? null : state.now + request.expiresIn;
  return (
    order.market === market &&
    order.side === request.side &&
    order.orderType === request.orderType &&
    order.price === price &&
    order.timeInForce === timeInForce &&
    order.postOnly === request.postOnly &&
    order.budget === request.budgetCents &&
    order.expiresAt === expiresAt &&
    (order.budget !== null || order.quantity <= request.quantity!)
  );
}
