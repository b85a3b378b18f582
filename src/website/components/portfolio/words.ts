import type {
  Order,
  OrderDetail,
  OwnPosition,
  StatementEntry,
  UndoneTrade,
} from "../../api/types.ts";
import { formatCents, formatCount, formatDateTime, formatPrice } from "../../format.ts";

type Terms = Pick<Order, "orderType" | "price" | "timeInForce">;

/** What happened, in words. */

const kinds: Record<StatementEntry["kind"], string> = {
  deposit: "Deposit",
  withdrawal: "Withdrawal",
  bonus: "Bonus",
  adjustment: "Adjustment",
  reversal: "Deposit reversed",
  trade: "Trade",
  split: "Complete sets made",
  merge: "Complete sets merged into cash",
  convert: "NO shares turned into YES shares and cash",
  redeem: "YES shares of all outcomes turned into cash",
  settlement: "Payout of a resolved market",
  correction: "Correction of a resolution",
  void: "Trades undone",
};

type Entry = Pick<StatementEntry, "kind"> & Partial<Pick<StatementEntry, "tradeId">>;

/** Why the cash changed. What was undone without a trade of its own is a whole market. */
export function kindWords({ kind, tradeId = null }: Entry): string {
  return kind === "void" && tradeId !== null ? "Trade undone" : kinds[kind];
}

/** By what shares are valued: before the first trade of their market by what they had cost. */
export function valueBasis(positions: Pick<OwnPosition, "lastPrice">[]): string {
  const withoutTrade = positions.filter(({ lastPrice }) => lastPrice === null).length;
  if (withoutTrade === 0) return "at the last price";
  return withoutTrade === positions.length ? "at cost" : "at the last price or at cost";
}

const reasons: Record<NonNullable<OrderDetail["cancelReason"]>, string> = {
  user_cancelled: "Cancelled",
  user_amended: "Replaced by a changed order",
  insufficient_funds: "Cancelled: not enough cash",
  market_closed: "Cancelled: the market closed or was paused",
  position_insufficient: "Cancelled: not enough shares",
  expired: "Expired",
  trading_paused: "Cancelled by the exchange",
  self_trade: "Cancelled: it met an order of your own",
  post_only_would_cross: "Cancelled: post only, and it would have traded at once",
  insufficient_liquidity: "Cancelled: nothing more was offered at its price",
  self_excluded: "Cancelled: self-exclusion",
  loss_limit: "Cancelled: a loss limit was reached",
};

const states: Record<Exclude<OrderDetail["status"], "cancelled">, string> = {
  scheduled: "Waits for its release",
  open: "Open",
  partially_filled: "Partly filled",
  filled: "Filled",
};

/** Where an order is in its life. */
export function stateWords({
  status,
  cancelReason,
}: Pick<OrderDetail, "status" | "cancelReason">): string {
  if (cancelReason !== null) return reasons[cancelReason];
  return status === "cancelled" ? "Cancelled" : states[status];
}

interface Traded {
  marketId: string;
  fills: Pick<OrderDetail["fills"][number], "id">[];
}

/** When trades of an order, or one trade, were undone; undefined if none was. */
export function undoneWords(
  { marketId, fills }: Traded,
  undone: UndoneTrade[],
): string | undefined {
  const ofMarket = undone.filter((one) => one.marketId === marketId);
  const times = fills.flatMap(({ id }) => {
    const found =
      ofMarket.find(({ tradeId }) => tradeId === id) ??
      ofMarket.find(({ tradeId }) => tradeId === null);
    return found === undefined ? [] : [found.undoneAt];
  });
  const last = times.sort().at(-1);
  if (last === undefined) return undefined;
  const part = times.length === fills.length ? "Undone" : "Undone in part";
  return `${part} on ${formatDateTime(last)}`;
}

/** What an order asks for: its budget while it waits with one, or its limit. */
export function termsWords(order: Terms & Pick<Order, "budgetCents">): string {
  const { budgetCents } = order;
  return budgetCents === null ? limitWords(order) : `Budget ${formatCents(budgetCents)}`;
}

/** How much of an order is filled. How many shares a budget buys is not known before. */
export function filledWords({
  filledQuantity,
  quantity,
  budgetCents,
}: Pick<Order, "filledQuantity" | "quantity" | "budgetCents">): string {
  return budgetCents === null ? `${formatCount(filledQuantity)} / ${formatCount(quantity)}` : "–";
}

/** How long an order may wait. */
export function untilWords({
  expiresAt,
  timeInForce,
}: Pick<Order, "expiresAt" | "timeInForce">): string {
  if (timeInForce !== "gtc") return "its release";
  return expiresAt === null ? "no end" : formatDateTime(expiresAt);
}

/** The limit of an order. One at the last price there is, which may not rest, is a market order. */
export function limitWords({ orderType, price, timeInForce }: Terms): string {
  const isAnyPrice = price === (orderType === "buy" ? 99 : 1);
  return isAnyPrice && timeInForce === "ioc" ? "market" : formatPrice(price);
}
