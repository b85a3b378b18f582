import type { Column, Condition, Filter } from "./view.ts";

/** Columns, filters and conditions that several lists have. */

/** Orders that others can trade with. */
export const inBook: Condition = { isInBook: { equalTo: true } };
/** Those, and orders that a live market delays. */
export const notOver: Condition = { isInBook: { isNull: false } };

export const user: Column = {
  ...{ field: "userId", label: "User", kind: "user" },
  name: ["userByUserKey", "handle"],
};

export const market: Column = {
  ...{ field: "marketId", label: "Market", kind: "market" },
  name: ["marketByMarketKey", "title"],
};

/** Of a view that has no reference to markets or users. */
export const marketId: Column = { field: "marketId", label: "Market", kind: "market" };
export const userId: Column = { field: "userId", label: "User", kind: "user" };

export const side: Column = { field: "side", label: "Side" };
export const journal: Column = { field: "journalKey", label: "Journal", kind: "journal" };

export function cents(field: string, label: string, isSorted = false): Column {
  return { field, label, kind: "cents", isSorted };
}

export function time(field: string, label: string, isSorted = false): Column {
  return { field, label, kind: "time", isSorted };
}

export function count(field: string, label: string, isSorted = false): Column {
  return { field, label, kind: "count", isSorted };
}

export function flag(field: string, label: string): Column {
  return { field, label, kind: "flag" };
}

export function text(field: string, label: string, isSorted = false): Column {
  return { field, label, isSorted };
}

export const byUser: Filter = {
  name: "user",
  label: "Id, handle or e-mail of the user",
  kind: "uuid",
  field: "userId",
};
export const byMarket: Filter = {
  ...{ name: "market", label: "Id of the market", kind: "uuid", field: "marketId" },
};
export const bySide: Filter = choice("side", "Side", ["yes", "no"]);

/** One of some values, each with itself as its label. */
export function choice(field: string, label: string, values: readonly string[]): Filter {
  return { name: field, label, kind: "choice", field, options: values.map((one) => [one, one]) };
}

export const byDay: Filter = { name: "day", label: "Day (UTC)", kind: "day", field: "day" };

/** Rows whose time is in a span. */
export function span(field: string, id?: string): Filter[] {
  const about = { field, ...(id !== undefined && { id }) };
  return [
    { name: "from", label: "From (UTC)", kind: "from", ...about },
    { name: "until", label: "Before (UTC)", kind: "until", ...about },
  ];
}

export function isSet(name: string, field: string, label: string): Filter {
  return { name, label, kind: "isSet", field };
}

/** The address of a user. Until one is confirmed, the database has a placeholder there. */
export const email: Column = {
  ...text("email", "E-mail"),
  instead: (row) =>
    String(row.email).endsWith("@unconfirmed.invalid") ? "not confirmed" : undefined,
};
