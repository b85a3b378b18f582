import { choice, cents, count, flag, isSet, market, span, text, time } from "./parts.ts";
import { byMarket, byUser, journal, side, user } from "./parts.ts";
import type { View } from "./view.ts";

/** Categories, events and markets, and what became of markets. */

export const categories: View = {
  ...{ title: "Categories", list: "allCategories", type: "Category" },
  columns: [
    text("name", "Name", true),
    text("category", "In addresses", true),
    count("position", "Place", true),
    count("eventCount", "Events"),
    count("openMarketCount", "Open markets"),
    count("closedMarketCount", "Closed and resolved markets"),
  ],
  filters: [],
  order: "POSITION_ASC",
  empty: "There are no categories yet.",
};

export const events: View = {
  ...{ title: "Events", list: "allEvents", type: "Event" },
  columns: [
    { field: "eventId", label: "Event", kind: "event", name: ["self", "title"] },
    text("category", "Category"),
    time("startsAt", "Starts", true),
    time("endsAt", "Ends", true),
    flag("isLive", "Live"),
    count("liveDelayMs", "Delay of orders, ms"),
    flag("isExclusive", "Exclusive"),
    time("createdAt", "Made", true),
  ],
  filters: [
    { name: "title", label: "Title", kind: "contains", field: "title" },
    { name: "category", label: "Category", kind: "equals", field: "category" },
    { name: "live", label: "Live", kind: "flag", field: "isLive" },
    ...span("startsAt"),
  ],
  order: "EVENT_KEY_DESC",
  empty: "No events.",
};

export const markets: View = {
  ...{ title: "Markets", list: "allMarkets", type: "Market" },
  columns: [
    { field: "marketId", label: "Market", kind: "market", name: ["self", "title"] },
    text("status", "Status"),
    time("openTime", "Opens"),
    time("closeTime", "Closes", true),
    text("resolvedOutcome", "Outcome"),
    time("voidedAt", "Undone"),
    text("proposedOutcome", "Proposed outcome"),
    text("category", "Category"),
    { field: "lastYesPriceCents", label: "Last YES price", kind: "price" },
    count("tradeCount", "Trades", true),
    count("traderCount", "Traders", true),
    time("createdAt", "Made", true),
    { field: "eventId", label: "Event", kind: "event" },
  ],
  filters: [
    {
      ...{ name: "search", label: "Title or id", kind: "search" },
      field: ["title", "marketId"],
    },
    choice("status", "Status", ["open", "paused", "closed", "resolved"]),
    isSet("undone", "voidedAt", "Undone"),
    { name: "category", label: "Category", kind: "equals", field: "category" },
    { name: "event", label: "Id of the event", kind: "uuid", field: "eventId" },
  ],
  order: "MARKET_KEY_DESC",
  empty: "No markets.",
};

export const resolutions: View = {
  ...{ title: "Resolutions", list: "allResolutions", type: "Resolution" },
  columns: [
    time("createdAt", "When", true),
    market,
    text("outcome", "Outcome"),
    { field: "yesPayoutCents", label: "A YES share got", kind: "price" },
    count("positionCount", "Positions"),
    cents("payoutCents", "Paid"),
    flag("isFinal", "In force"),
    text("reason", "Reason of a correction"),
    text("evidence", "Evidence"),
    { field: "resolutionKey", label: "Number", kind: "key" },
  ],
  filters: [
    byMarket,
    choice("outcome", "Outcome", ["yes", "no", "custom"]),
    { name: "final", label: "In force", kind: "flag", field: "isFinal" },
    ...span("createdAt"),
  ],
  order: "RESOLUTION_KEY_DESC",
  empty: "No resolutions.",
};

export const disputes: View = {
  ...{ title: "Disputes", list: "allDisputes", type: "Dispute" },
  columns: [
    time("createdAt", "When"),
    market,
    text("outcome", "Disputed outcome"),
    user,
    text("text", "What the user wrote"),
    flag("isOpen", "Waits"),
    text("answer", "Answer"),
    time("answeredAt", "Answered"),
    { field: "disputeId", label: "Id", kind: "id" },
  ],
  filters: [
    byMarket,
    byUser,
    { name: "waits", label: "Waits", kind: "flag", field: "isOpen" },
    choice("outcome", "Disputed outcome", ["yes", "no", "custom"]),
    ...span("createdAt"),
  ],
  order: "DISPUTE_KEY_DESC",
  empty: "No disputes.",
};

export const settlements: View = {
  ...{ title: "Settlements", list: "allSettlements", type: "Settlement" },
  columns: [
    user,
    market,
    side,
    count("quantity", "Shares", true),
    cents("payoutCents", "Paid", true),
    cents("costCents", "Cost"),
    cents("feeCents", "Fees"),
    cents("realisedCents", "Result", true),
    flag("isFinal", "In force"),
    time("createdAt", "When"),
    { field: "resolutionKey", label: "Resolution", kind: "key" },
  ],
  filters: [
    byUser,
    byMarket,
    { name: "resolution", label: "Number of the resolution", kind: "key", field: "resolutionKey" },
    { name: "final", label: "In force", kind: "flag", field: "isFinal" },
  ],
  order: "PRIMARY_KEY_DESC",
  empty: "No settlements.",
};

export const voids: View = {
  ...{ title: "Undone trades and markets", list: "allVoids", type: "Void" },
  columns: [
    time("createdAt", "When", true),
    market,
    { field: "tradeId", label: "Trade", kind: "trade" },
    text("reason", "Reason"),
    cents("feeCents", "Fees given back"),
    cents("outsideCents", "Of them paid out before"),
    journal,
    { field: "voidKey", label: "Number", kind: "key" },
  ],
  filters: [
    byMarket,
    { name: "trade", label: "Id of the trade", kind: "uuid", field: "tradeId" },
    isSet("single", "tradeId", "A single trade"),
    ...span("createdAt"),
  ],
  order: "VOID_KEY_DESC",
  empty: "Nothing was undone.",
};

export const voidedPositions: View = {
  ...{ title: "Positions of undone markets", list: "allVoidedPositions", type: "VoidedPosition" },
  columns: [
    user,
    market,
    side,
    count("quantity", "Shares", true),
    cents("costCents", "Cost"),
    cents("feeCents", "Fees"),
    cents("realisedCents", "Result before"),
    { field: "voidKey", label: "Number of the void", kind: "key" },
  ],
  filters: [byUser, byMarket],
  order: "PRIMARY_KEY_DESC",
  empty: "No positions.",
};
