import type { PlaceOrder } from "../../api/types.ts";
import {
  formatCents,
  formatChange,
  formatCount,
  formatDateTime,
  formatPrice,
  formatShares,
} from "../../format.ts";
import type { Estimate } from "./estimate.ts";

/** An order with what it does, by its preview or by the book. */
export interface PlannedOrder {
  order: PlaceOrder;
  /** What the order does. */
  done: Estimate;
  /** Whether the order trades later, if the book stays as it is. */
  isLater?: boolean;
  /** Cents; undefined where the server did not say it. */
  balanceAfter?: number;
}

export type Figure = [name: string, value: string];

/** What does not trade at once, and what becomes of it; undefined where all of an order trades. */
export function restWords({ order, done, isLater = false }: PlannedOrder): string | undefined {
  const { quantity, expiresAt } = order;
  const { filledQuantity, restingQuantity } = done;
  if (filledQuantity === 0 && restingQuantity === 0) {
    return "It finds no match, and is cancelled.";
  }
  const isPart = typeof quantity === "number" && filledQuantity < quantity;
  if (!isPart) return undefined;
  const trades =
    filledQuantity === 0
      ? `Nothing ${isLater ? "would trade" : "trades now"}.`
      : `Only ${formatCount(filledQuantity)} of ${formatCount(quantity)} ${isLater ? "would trade" : "trade now"}.`;
  if (restingQuantity === 0) return `${trades} The rest is cancelled.`;
  const waits = `${formatCount(restingQuantity)} ${restingQuantity === 1 ? "waits" : "wait"}`;
  const end = typeof expiresAt === "string" ? `, or until ${formatDateTime(expiresAt)}` : "";
  return `${trades} ${waits} in the book until you cancel${end}.`;
}

/** What the shares that are bought at once win; undefined without any. */
export function winWords({ order, done }: PlannedOrder): string | undefined {
  const { filledQuantity, costCents, feeCents } = done;
  if (order.orderType === "sell" || filledQuantity === 0) return undefined;
  const paysCents = filledQuantity * 100;
  const win = formatChange(paysCents - costCents - feeCents);
  return `If ${order.side.toUpperCase()}: you win ${win} (pays\u00a0${formatCents(paysCents)})`;
}

/** What is paid or got, and at what price. */
export function mainFigures({ order, done }: PlannedOrder): Figure[] {
  const { filledQuantity, averagePrice, worstPrice, costCents, feeCents, restingQuantity } = done;
  const isBuy = order.orderType !== "sell";
  if (filledQuantity === 0) return restingQuantity === 0 ? [] : waitingFigures(order, done);
  const paidCents = costCents + feeCents;
  return [
    isBuy
      ? ["You pay, with the fee", formatCents(paidCents)]
      : ["You get, after the fee", formatCents(0 - paidCents)],
    ["Average price", formatPrice(averagePrice)],
    ...(typeof order.price === "number"
      ? []
      : [[isBuy ? "Highest price" : "Lowest price", formatPrice(worstPrice)] as Figure]),
  ];
}

/** Of what waits in the book. */
function waitingFigures(order: PlaceOrder, { restingQuantity }: Estimate): Figure[] {
  const atPrice = formatCents(restingQuantity * (order.price ?? 0));
  if (order.orderType === "sell") return [["If that trades, you get", atPrice]];
  return [
    ["If that trades, it costs", atPrice],
    [`and pays, if ${order.side.toUpperCase()} is right`, formatCents(restingQuantity * 100)],
  ];
}

/** The other figures. */
export function moreFigures({ order, done, isLater, balanceAfter }: PlannedOrder): Figure[] {
  const { filledQuantity, costCents, feeCents, restingQuantity } = done;
  const figures: Figure[] = [];
  if (filledQuantity > 0) {
    const trades = isLater === true ? "Would trade" : "Trades now";
    figures.push([trades, formatShares(filledQuantity)], ["Fee", formatCents(feeCents)]);
    if (order.orderType !== "sell") {
      figures.push(["If it is wrong, you lose", formatCents(costCents + feeCents)]);
    }
    if (restingQuantity > 0) {
      const waits: Figure = ["Waits in the book", formatShares(restingQuantity)];
      figures.push(waits, ...waitingFigures(order, done));
    }
  }
  if (balanceAfter !== undefined) figures.push(["Cash afterwards", formatCents(balanceAfter)]);
  return figures;
}
