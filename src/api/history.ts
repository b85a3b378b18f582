import type { Request, Response } from "express";
import { z } from "zod";
import { prefersCsv, sendCsv } from "../http/csv.ts";
import { answered, route } from "./route.ts";
import { centsSchema, limitSchema, momentSchema, timestampSchema, uuidSchema } from "./common.ts";
import { orderDetailSchema, ownFillSchema } from "./order_schemas.ts";

/** What happened to the caller's orders and account, newest first. Lists go on by a cursor. */

/** Ids rise, so a list is stable while new rows come. */
const cursorOf = (pattern: RegExp) =>
  z
    .string()
    .regex(pattern, "must be the nextCursor of the page before")
    .optional()
    .meta({ description: "the `nextCursor` of the page before" });

const cursorSchema = cursorOf(/^\d{1,18}$/);

const nextCursorSchema = z
  .string()
  .nullable()
  .meta({ description: "null: there is no next page. A page may be short and still have one." });

const limit = limitSchema(200, 50);

const timeSchema = momentSchema.optional();

export const orderHistoryResponseSchema = z.strictObject({
  data: z.array(orderDetailSchema).max(200),
  nextCursor: nextCursorSchema,
});

const orderHistory = route({
  method: "get",
  path: "/api/v1/me/order-history",
  operationId: "listOrderHistory",
  tag: "Portfolio",
  summary: "All the caller's orders with their fills, newest first",
  description:
    "Archived ones too. A page may be shorter than `limit` and still have a `nextCursor`: it has " +
    "5,000 fills at most, unless one order has more, and with `marketId` it ends after 5,000 " +
    "orders of all markets.",
  auth: "key",
  ...{ rateLimit: "read", isLong: true },
  request: {
    query: z.object({ cursor: cursorSchema, limit, marketId: uuidSchema.optional() }),
  },
  responses: { 200: { description: "A page of orders.", schema: orderHistoryResponseSchema } },
  handler: ({ query: { cursor, limit: most, marketId }, userId }, { reads }) =>
    reads.listOrderHistory({ userId, most, cursor, marketId }),
});

export const fillsResponseSchema = z.strictObject({
  data: z.array(ownFillSchema).max(200),
  nextCursor: nextCursorSchema,
});

const fills = route({
  method: "get",
  path: "/api/v1/me/fills",
  operationId: "listFills",
  tag: "Portfolio",
  summary: "The caller's fills, newest first",
  description:
    "Prices are of the own order's side, `cashCents` is what the fill moved on the account with " +
    "the fee, `realisedPnl` is null for a buy. With `Accept: text/csv` as CSV; its `Link` header " +
    "leads to the next page.",
  auth: "key",
  rateLimit: "read",
  request: {
    query: z.object({
      cursor: cursorSchema,
      limit,
      marketId: uuidSchema.optional(),
      orderId: uuidSchema.optional(),
    }),
  },
  responses: {
    200: {
      description: "A page of fills.",
      schema: fillsResponseSchema,
      orCsv: true,
      mayHave: ["Link"],
    },
  },
  handler: async ({ query, userId, request, response }, { reads }) => {
    const { cursor, limit: most, marketId, orderId } = query;
    const text = await reads.listFills({ userId, most, cursor, marketId, orderId });
    return jsonOrCsv(text, { name: "fills", schema: ownFillSchema, request, response });
  },
});

/** What an entry of an account is about. */
export const journalKindSchema = z.enum([
  "deposit",
  "withdrawal",
  "bonus",
  "adjustment",
  "reversal",
  "trade",
  "split",
  "merge",
  "convert",
  "redeem",
  "settlement",
  "correction",
  "void",
]);

export const statementEntrySchema = z
  .strictObject({
    id: z.int().min(1).meta({ description: "number of the entry in the account, without a gap" }),
    kind: journalKindSchema,
    amountCents: centsSchema,
    balanceAfter: centsSchema,
    marketId: uuidSchema.nullable(),
    tradeId: uuidSchema.nullable(),
    reference: z
      .string()
      .nullable()
      .meta({ description: "of a deposit, withdrawal, bonus, adjustment or reversal" }),
    createdAt: timestampSchema,
  })
  .meta({ id: "StatementEntry" });

export const statementResponseSchema = z.strictObject({
  data: z.array(statementEntrySchema).max(200),
  nextCursor: nextCursorSchema,
});

const statement = route({
  method: "get",
  path: "/api/v1/me/statement",
  operationId: "getStatement",
  tag: "Portfolio",
  summary: "The entries of the caller's account in the ledger, newest first",
  description:
    "From a time until before another. With `to` a page may be shorter than `limit` and still " +
    "have a `nextCursor`: it ends after 5,000 entries. With `Accept: text/csv` as CSV; its `Link` " +
    "header leads to the next page. CSV has a `'` before a reference that a spreadsheet would take " +
    "for a formula: programs should read JSON.",
  auth: "key",
  rateLimit: "read",
  request: {
    query: z.object({
      cursor: cursorOf(/^\d{1,18}\.\d{1,18}$/),
      limit,
      from: timeSchema,
      to: timeSchema,
    }),
  },
  responses: {
    200: {
      description: "A page of entries.",
      schema: statementResponseSchema,
      orCsv: true,
      mayHave: ["Link"],
    },
  },
  handler: async ({ query, userId, request, response }, { reads }) => {
    const { cursor, limit: most, from: since, to: until } = query;
    const text = await reads.getStatement({ userId, most, cursor, since, until });
    return jsonOrCsv(text, { name: "statement", schema: statementEntrySchema, request, response });
  },
});

export const historyRoutes = [orderHistory, fills, statement];

interface JsonOrCsv {
  /** Of the file. */
  name: string;
  /** Of a row: it names the columns. */
  schema: z.ZodObject;
  request: Request;
  response: Response;
}

/** A page as JSON, or as CSV if the request prefers that. */
function jsonOrCsv(text: string, { name, schema, request, response }: JsonOrCsv) {
  response.vary("Accept");
  if (!prefersCsv(request)) return text;
  const { data, nextCursor } = JSON.parse(text) as {
    data: Record<string, string | number | null>[];
    nextCursor: string | null;
  };
  const columns = Object.keys(schema.shape);
  sendCsv(response, { name, columns, rows: data, ...nextPage(request, nextCursor) });
  return answered;
}

function nextPage(request: Request, cursor: string | null): { next?: string } {
  if (cursor === null) return {};
  const { pathname, searchParams } = new URL(request.originalUrl, "http://site");
  searchParams.set("cursor", cursor);
  return { next: `${pathname}?${searchParams.toString()}` };
}
