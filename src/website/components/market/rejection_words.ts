import type { OwnPosition, OwnProfile, PlaceOrder, Snapshot } from "../../api/types.ts";
import { formatCents, formatPrice, formatShares } from "../../format.ts";
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
): string | undefined {
  if (code === "INSUFFICIENT_LIQUIDITY") return liquidityWords(order, known);
  if (code === "LOSS_LIMIT") return limitWords(known);
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

function limitWords({ account }: Known): string | undefined {
  if (account === undefined) return undefined;
  const left = scarcestLimit(account.limits);
  if (left === undefined) return undefined;
  const { name, limitCents, leftCents } = left;
  return `This order could take you over your loss limit of ${formatCents(limitCents)} a ${name}: ${formatCents(leftCents)} of it is left. Order less, or cancel an open order.`;
}

function heldWords({ side }: PlaceOrder, { positions }: Known): string | undefined {
  if (positions === undefined) return undefined;
  const held = positions.find((position) => position.side === side)?.quantity ?? 0;
  if (held === 0) return `You hold no ${side.toUpperCase()} shares to sell.`;
  return `You hold ${formatShares(held)} of ${side.toUpperCase()}, and can sell no more than that.`;
}

function cashWords(order: PlaceOrder, known: Known): string | undefined {
  const { account, book, feeRateBps } = known;
  if (account === undefined) return undefined;
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
