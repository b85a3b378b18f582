import { byMarket, bySide, byUser, cents, choice, count, flag, inBook, isSet } from "./parts.ts";
import { journal, market, notOver, side, span, text, time, user } from "./parts.ts";
import type { Condition, View } from "./view.ts";

/** Orders, trades and shares. */

/** The filters by these statuses read no order that is over. */
const inBookAs = (status: string): Condition => ({ ...inBook, status: { equalTo: status } });

export const orders: View = {
  ...{ title: "Orders", list: "allOrders", type: "Order" },
  columns: [
    time("createdAt", "Placed", true),
    user,
    market,
    text("orderType", "Buys or sells"),
    side,
    { field: "priceCents", label: "Price", kind: "price" },
    count("quantity", "Shares"),
    count("filledQuantity", "Filled"),
    { field: "budgetCents", label: "Budget", kind: "cents" },
    text("timeInForce", "Time in force"),
    text("status", "Status"),
    text("cancelReason", "Why cancelled"),
    cents("feeCents", "Fee"),
    time("expiresAt", "Expires"),
    time("releaseAt", "Released"),
    time("cancelledAt", "Cancelled"),
    { field: "orderId", label: "Order", kind: "order" },
    { field: "orderKey", label: "Number", kind: "key" },
  ],
  filters: [
    byUser,
    byMarket,
    { name: "order", label: "Id of the order", kind: "uuid", field: "orderId" },
    {
      ...{ name: "status", label: "Status", kind: "choice", field: "status" },
      options: [
        ["open,partially_filled", "in the book", inBook],
        ["open,partially_filled,scheduled", "not over", notOver],
        ["scheduled", "scheduled", { isInBook: { equalTo: false } }],
        ["open", "open", inBookAs("open")],
        ["partially_filled", "partially_filled", inBookAs("partially_filled")],
        ["filled", "filled"],
        ["cancelled", "cancelled"],
      ],
    },
    bySide,
    choice("orderType", "Buys or sells", ["buy", "sell"]),
    ...span("createdAt", "orderId"),
  ],
  order: "ORDER_KEY_DESC",
  empty: "No orders.",
};

export const trades: View = {
  ...{ title: "Trades", list: "allTrades", type: "Trade" },
  columns: [
    time("createdAt", "When", true),
    market,
    { field: "yesPriceCents", label: "YES price", kind: "price" },
    count("quantity", "Shares", true),
    {
      ...{ field: "takerUserId", label: "Taker", kind: "user" },
      name: ["userByTakerUserKey", "handle"],
    },
    text("takerOrderType", "Taker's order"),
    text("takerSide", "Taker's side"),
    {
      ...{ field: "makerUserId", label: "Maker", kind: "user" },
      name: ["userByMakerUserKey", "handle"],
    },
    text("makerOrderType", "Maker's order"),
    text("makerSide", "Maker's side"),
    cents("feeCents", "Fee"),
    text("matchType", "Kind"),
    journal,
    { field: "takerOrderId", label: "Order of the taker", kind: "order" },
    { field: "makerOrderId", label: "Order of the maker", kind: "order" },
    { field: "tradeId", label: "Trade", kind: "trade" },
    time("voidedAt", "Undone"),
  ],
  filters: [
    ...(["trader", "with"] as const).map((name) => ({
      ...{
        name,
        label: `Id, handle or e-mail of ${name === "trader" ? "a user" : "the other user"}`,
      },
      ...{ kind: "search" as const, field: ["takerUserId", "makerUserId"] },
    })),
    {
      name: "taker",
      label: "Id, handle or e-mail of the taker",
      kind: "uuid",
      field: "takerUserId",
    },
    {
      name: "maker",
      label: "Id, handle or e-mail of the maker",
      kind: "uuid",
      field: "makerUserId",
    },
    byMarket,
    { name: "trade", label: "Id of the trade", kind: "uuid", field: "tradeId" },
    { name: "journal", label: "Journal", kind: "key", field: "journalKey" },
    isSet("undone", "voidedAt", "Undone"),
    ...span("createdAt", "tradeId"),
  ],
  order: "JOURNAL_KEY_DESC",
  empty: "No trades.",
};

export const positions: View = {
  ...{ title: "Positions", list: "allPositions", type: "Position" },
  columns: [
    user,
    market,
    side,
    count("openQuantity", "Shares held", true),
    cents("openCostCents", "Cost of these"),
    { field: "markPriceCents", label: "Last price", kind: "price" },
    cents("markValueCents", "Worth at it", true),
    cents("unrealisedCents", "Unrealised", true),
    cents("realisedCents", "Realised", true),
    cents("feeCents", "Fees"),
    flag("isSettled", "Settled"),
  ],
  filters: [
    byUser,
    byMarket,
    bySide,
    { name: "settled", label: "Settled", kind: "flag", field: "isSettled" },
    { name: "held", label: "With shares", kind: "isSome", field: "openQuantity" },
  ],
  order: "PRIMARY_KEY_DESC",
  empty: "No positions.",
};

export const conversions: View = {
  ...{ title: "Splits, merges, conversions", list: "allSetConversions", type: "SetConversion" },
  columns: [
    time("createdAt", "When", true),
    user,
    market,
    text("kind", "Kind"),
    { field: "side", label: "Side", ifNone: () => "both" },
    count("quantity", "Shares", true),
    { ...cents("cents", "Cash for them"), ifNone: () => "50¢ a share" },
    cents("yesRealisedCents", "Realised, YES"),
    cents("noRealisedCents", "Realised, NO"),
    journal,
  ],
  filters: [
    byUser,
    byMarket,
    choice("kind", "Kind", ["split", "merge", "convert", "redeem"]),
    ...span("createdAt"),
  ],
  order: "CONVERSION_KEY_DESC",
  empty: "No splits, merges or conversions.",
};

export const reductions: View = {
  ...{ title: "Reduced orders", list: "allOrderReductions", type: "OrderReduction" },
  columns: [
    time("reducedAt", "When", true),
    {
      ...{ field: "orderKey", label: "Order", kind: "order" },
      name: ["orderByOrderKey", "orderId"],
    },
    count("quantityBefore", "Shares before"),
    count("quantityAfter", "Shares after"),
  ],
  filters: [
    { name: "order", label: "Number of the order", kind: "key", field: "orderKey" },
    ...span("reducedAt"),
  ],
  order: "PRIMARY_KEY_DESC",
  empty: "No order was reduced.",
};
