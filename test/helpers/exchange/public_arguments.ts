import type { DatabaseFunction, Fields } from "../../../src/database/call.ts";

const ID = "01900000-0000-7000-8000-000000000000";

/** What public reads are called with, by the names of their arguments. */
const values: Record<string, unknown> = {
  afterTradeId: null,
  category: "all",
  eventId: ID,
  eventIds: [ID],
  interval: "1h",
  marketId: ID,
  marketIds: [ID],
  most: 10,
  page: 1,
  pageSize: 10,
  query: null,
  since: null,
  sort: "newest",
  status: "open",
  until: null,
  version: "0.0.0",
  window: "all",
  withSnapshot: true,
};

/** Arguments with which a public read answers, of this market where it is about one. */
export function publicArguments(
  { arguments: types, name }: DatabaseFunction<Fields, unknown>,
  marketId = ID,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(types).map((key) => {
      if (!(key in values)) throw new Error(`${name} has the argument ${key}, which has no value`);
      return [key, key === "marketId" ? marketId : values[key]];
    }),
  );
}
