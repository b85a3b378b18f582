import { timeNow } from "../../api/server_time.ts";
import type { OwnPosition, OwnProfile, PlaceOrder, Snapshot } from "../../api/types.ts";
import { formatCents, formatDateTime, formatPrice, formatShares } from "../../format.ts";
import { bestPriceOf, bestPricesOf } from "./best_price.ts";
import { estimate } from "./estimate.ts";
import { scarcestLimit } from "./limits_left.ts";

/** What a page knows that explains a rejection. Undefined is not known yet. */
export interface Known {
  book: Snapshot["orderBook"] | undefined;
  feeRateBps: number;
  account: Pick<OwnProfile, "balance" | "limits"> | undefined;
  positions: Pick<OwnPosition, "side" | "quantity">[] | undefined;
}

/** Why an order was rejected, in figures; undefined where the code itself says all that is known. */
export function rejectionWords(
  code: string | undefined,
  order: PlaceOrder,
  known: Known,
  now = new Date(timeNow()),
): string | undefined {
  if (code === "INSUFFICIENT_LIQUIDITY") return liquidityWords(order, known);
  if (code === "LOSS_LIMIT") return limitWords(known, now);
  if (code !== "INSUFFICIENT_BALANCE") return undefined;
  return order.orderType === "sell" ? heldWords(order, known) : cashWords(order, known);
}

function liquidityWords(order: PlaceOrder, { book, feeRateBps }: Known): string | undefined {
  const { side, orderType, price, budgetCents } = order;
  if (book === undefined) return undefined;
  const trade = { side, orderType: orderType ?? "buy" };
  const text = bestPriceOf(bestPricesOf(book), trade);
  const nobody = `Nobody ${trade.orderType === "sell" ? "bids for" : "offers"} ${side.toUpperCase()}`;
  if (text === "") return `${nobody} now. A limit order can wait in the book.`;
  const best = Number(text);
  const one = estimate({ ...order, price: null, quantity: 1, budgetCents: null }, book, {
    feeRateBps,
  });
  const oneCents = Math.abs(one.costCents) + one.feeCents;
  if (typeof budgetCents === "number" && budgetCents < oneCents) {
    return `${formatCents(budgetCents)} does not pay for one share: at ${formatPrice(best)} that costs ${formatCents(oneCents)} with the fee.`;
  }
  if (typeof price !== "number") return undefined;
  return `${nobody} at ${formatPrice(price)} or better now: the best price is ${formatPrice(best)}.`;
}

function limitWords({ account }: Known, now: Date): string | undefined {
  if (account === undefined) return undefined;
  const left = scarcestLimit(account.limits);
  if (left === undefined) return undefined;
  const { name, leftCents } = left;
  const limit = `your loss limit of ${formatCents(left.limitCents)} a ${name}`;
  if (leftCents > 0) {
    return `This order could take you over ${limit}: ${formatCents(leftCents)} of it is left. Order less, or cancel an open order.`;
  }
  const renewal =
    name === "day" ? ` The limit begins anew on ${formatDateTime(nextDay(now))}.` : "";
  return `Nothing of ${limit} is left, so this order cannot be placed. If an open order takes a part of it, cancel that one.${renewal}`;
}

/** When the next day of the exchange begins, in UTC. */
function nextDay(now: Date): string {
  const day = new Date(now);
  day.setUTCHours(24, 0, 0, 0);
  return day.toISOString();
}

function heldWords({ side }: PlaceOrder, { positions }: Known): string {
  const name = side.toUpperCase();
  if (positions === undefined) return `You do not hold so many ${name} shares. Order less.`;
  const held = positions.find((position) => position.side === side)?.quantity ?? 0;
  if (held === 0) return `You hold no ${name} shares to sell.`;
  return `You hold ${formatShares(held)} of ${name}, and can sell no more than that.`;
}

function cashWords(order: PlaceOrder, known: Known): string {
  const { account, book, feeRateBps } = known;
  if (account === undefined) return "You do not have enough cash for this order. Order less.";
  const cash = `You have ${formatCents(account.balance)} in cash`;
  if (book === undefined || typeof order.quantity !== "number") return `${cash}. Order less.`;
  const costs = (quantity: number): number => {
    const would = estimate({ ...order, quantity }, book, { feeRateBps });
    return would.costCents + would.feeCents + would.restingQuantity * (order.price ?? 0);
  };
  let [most, tooMany] = [0, order.quantity];
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (costs(middle) <= account.balance) most = middle;
    else tooMany = middle;
  }
  return most === 0
    ? `${cash}: that is not enough for one share.`
    : `${cash}: that is enough for ${formatShares(most)} at most.`;
}
