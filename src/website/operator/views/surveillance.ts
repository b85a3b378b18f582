import {
  byMarket,
  byDay,
  byUser,
  cents,
  choice,
  count,
  market,
  text,
  time,
  user,
} from "./parts.ts";
import type { Column, View } from "./view.ts";

/** What staff look at to find abuse, and users who may need help. All are of the last days. */

const named = (field: string, label: string, handle: string): Column => ({
  ...{ field, label, kind: "user", name: ["self", handle] },
});
const first = named("firstUserId", "One", "firstHandle");
const second = named("secondUserId", "The other", "secondHandle");
const taker = named("takerUserId", "Taker", "takerHandle");
const maker = named("makerUserId", "Maker", "makerHandle");
const price: Column = { field: "yesPriceCents", label: "YES price", kind: "price" };
const trade: Column = { field: "tradeId", label: "Trade", kind: "trade" };
const undone = time("voidedAt", "Undone");
const byTrader = (fields: readonly string[]) =>
  ({
    name: "trader",
    label: "Id, handle or e-mail of a user",
    kind: "search",
    field: fields,
  }) as const;
const ofPair = byTrader(["firstUserId", "secondUserId"]);
const ofTrade = byTrader(["takerUserId", "makerUserId"]);

export const tradingPairs: View = {
  ...{ title: "Pairs of users", list: "allTradingPairs", type: "TradingPair" },
  columns: [
    first,
    second,
    { field: "tradeCount", label: "Trades", kind: "pair", isSorted: true },
    count("quantity", "Shares", true),
    cents("valueCents", "Value", true),
    count("firstPercent", "Percent of the one"),
    count("secondPercent", "Percent of the other"),
    text("timesChance", "Times chance", true),
    time("lastAt", "Last", true),
  ],
  filters: [ofPair],
  order: "TIMES_CHANCE_DESC",
  empty: "No pair traded with each other far more than by chance.",
};

export const roundTrips: View = {
  ...{ title: "Round trips", list: "allRoundTrips", type: "RoundTrip" },
  columns: [
    time("createdAt", "When", true),
    market,
    first,
    second,
    count("quantity", "Shares", true),
    { field: "yesPriceBeforeCents", label: "YES price before", kind: "price" },
    price,
    cents("firstGainCents", "The one gained", true),
    count("secondsBetween", "Seconds between", true),
    { field: "tradeBeforeId", label: "Trade before", kind: "trade" },
    trade,
    undone,
  ],
  filters: [ofPair, byMarket],
  order: "TRADE_KEY_DESC",
  empty: "No round trips.",
};

export const largeTrades: View = {
  ...{ title: "Large trades", list: "allLargeTrades", type: "LargeTrade" },
  columns: [
    time("createdAt", "When", true),
    market,
    taker,
    maker,
    price,
    count("quantity", "Shares", true),
    count("dayQuantity", "Shares of the day"),
    count("dayPercent", "Percent of the day", true),
    count("dayTradeCount", "Trades of the day"),
    trade,
    undone,
  ],
  filters: [ofTrade, byMarket],
  order: "TRADE_KEY_DESC",
  empty: "No large trades.",
};

export const lateTrades: View = {
  ...{ title: "Late trades", list: "allLateTrades", type: "LateTrade" },
  columns: [
    time("createdAt", "When", true),
    count("secondsBefore", "Seconds before the end", true),
    market,
    taker,
    maker,
    text("takerFavours", "Taker favours"),
    text("resolvedOutcome", "Outcome"),
    price,
    count("quantity", "Shares", true),
    trade,
    undone,
  ],
  filters: [ofTrade, byMarket],
  order: "TRADE_KEY_DESC",
  empty: "No late trades.",
};

export const limitUsage: View = {
  ...{ title: "Loss limits nearly used", list: "allLimitUsages", type: "LimitUsage" },
  columns: [
    user,
    text("period", "Of a"),
    cents("limitCents", "Limit", true),
    cents("netSpentCents", "Net spent", true),
    cents("activeOrderCostCents", "Open orders may cost"),
    count("usedPercent", "Percent used", true),
  ],
  filters: [byUser, choice("period", "Of a", ["day", "week", "month"])],
  order: "USED_PERCENT_DESC",
  empty: "Nobody has used 80 % of a limit.",
};

export const unusualLosses: View = {
  ...{ title: "Unusual spending", list: "allUnusualLosses", type: "UnusualLoss" },
  columns: [
    named("userId", "User", "handle"),
    text("day", "Day", true),
    cents("netSpentCents", "Net spent", true),
    cents("usualCents", "Usual on such a day"),
    count("usualDays", "Such days before"),
  ],
  filters: [byUser, byDay],
  order: "DAY_DESC",
  empty: "Nobody spent far more than usual.",
};

export const lookalikes: View = {
  ...{ title: "New accounts like excluded users", list: "allLookalikes", type: "Lookalike" },
  columns: [
    named("userId", "New account", "handle"),
    time("createdAt", "Since", true),
    text("same", "The same"),
    named("excludedUserId", "Excluded user", "excludedHandle"),
    time("excludedUntil", "Excluded until"),
  ],
  filters: [byUser, choice("same", "The same", ["name", "mailbox", "mailbox, name"])],
  order: "CREATED_AT_DESC",
  empty: "No new account looks like an excluded user.",
};
