import type { Response } from "express";
import { z } from "zod";
import { plainProblem, ProblemError, rejection, rejections } from "../http/problems.ts";
import { StreamRejection } from "../streams/event_stream.ts";
import {
  centsSchema,
  marketIdsSchema,
  pathWithId,
  priceSchema,
  sideSchema,
  timestampSchema,
  uuidSchema,
} from "./common.ts";
import { levelSchema, marketNotFound, marketStatusSchema, outcomeSchema } from "./markets.ts";
import { orderSchema, orderStatusSchema, ownFillSchema } from "./order_schemas.ts";
import { answered, route } from "./route.ts";

/**
 * Server-Sent Events: the snapshots of a market, and what happens to the caller. Each stream has a
 * second address for pages of the website: their EventSource sends cookies, and no other headers.
 */

const contentType = "text/event-stream";

/** For a client that has as many streams open as allowed. */
const RETRY_AFTER_SECONDS = 10;

/** Answers by a stream, or ends the request if its client or the process has too many. */
async function answerBy(open: () => Promise<void>, response: Response): Promise<typeof answered> {
  try {
    await open();
    return answered;
  } catch (error) {
    if (!(error instanceof StreamRejection)) throw error;
    if (error.limitOf === "process") {
      throw new ProblemError(rejection("SERVICE_UNAVAILABLE"));
    }
    response.setHeader("Retry-After", RETRY_AFTER_SECONDS);
    throw new ProblemError(rejection("TOO_MANY_REQUESTS"));
  }
}

const streamIdParams = pathWithId(plainProblem(400, "INVALID_ID"));

const marketSnapshotSchema = z
  .strictObject({
    orderBook: z.strictObject({
      yesBids: z.array(levelSchema).meta({ description: "the highest price first" }),
      noBids: z
        .array(levelSchema)
        .meta({ description: "in NO prices: the YES ask is 100 - price" }),
    }),
    recentTrades: z
      .array(
        z.strictObject({
          price: priceSchema.meta({ description: "YES price" }),
          quantity: z.int().min(1),
          createdAt: timestampSchema,
          takerName: z.string().nullable(),
          takerHandle: z.string().nullable().meta({
            description: "null for a private profile",
          }),
          takerPrivate: z.boolean(),
          side: sideSchema.nullable().meta({ description: "the side that the taker bought" }),
        }),
      )
      .max(50)
      .meta({ description: "the newest first" }),
    tradersCount: z.int().min(0).meta({ description: "users who ever traded in this market" }),
  })
  .meta({ id: "MarketSnapshot" });

const marketStream = (path: string, operationId: string, summary: string) =>
  route({
    method: "get",
    path,
    operationId,
    tag: "Streams",
    summary,
    auth: "none",
    rateLimit: "stream",
    request: { params: streamIdParams },
    responses: {
      200: {
        description:
          "Server-Sent Events. The `data` of each frame is a snapshot, its `id` the market's " +
          "version. One comes at once, and one after every change of the book or the trades.",
        contentType,
        schema: marketSnapshotSchema,
        headers: ["X-Market-Version"],
      },
    },
    problems: [marketNotFound],
    handler: ({ params: { id }, address, response }, { streams }) =>
      answerBy(async () => {
        await streams.slots.take({ address, slots: 1 }, response);
        const isKnown = await streams.market.open(id, response);
        if (!isKnown) throw new ProblemError(marketNotFound);
      }, response),
  });

const MOST_MARKETS = 200;
const MARKETS_OF_A_SLOT = 20;

/** What a stream of so many markets counts as: openings of `sse:market`, and slots of its address. */
const slotsOf = (markets: number): number => Math.ceil(markets / MARKETS_OF_A_SLOT);

const changeStreamQuery = z.object({ markets: marketIdsSchema(MOST_MARKETS) });

export const marketChangeSchema = z
  .union([
    z.strictObject({
      marketId: uuidSchema,
      version: z.int().min(0),
      snapshot: marketSnapshotSchema.extend({ status: marketStatusSchema }),
    }),
    z.strictObject({
      marketId: uuidSchema,
      version: z.int().min(0),
      since: z.int().min(0).meta({ description: "the version of the frame before" }),
      levels: z.array(z.tuple([sideSchema, priceSchema, z.int().min(0)])).meta({
        description:
          "side, price and new total of the levels that changed, as in `yesBids` and `noBids`; " +
          "0: gone",
      }),
      trades: z
        .array(
          z.strictObject({
            id: uuidSchema,
            price: priceSchema.meta({ description: "YES price" }),
            quantity: z.int().min(1),
            side: sideSchema.meta({ description: "the side that the taker bought" }),
            createdAt: timestampSchema,
          }),
        )
        .meta({ description: "new ones, the oldest first" }),
      status: marketStatusSchema,
    }),
  ])
  .meta({ id: "MarketChange" });

const changeStream = route({
  method: "get",
  path: "/api/v1/stream",
  operationId: "streamChanges",
  tag: "Streams",
  summary: "The changes of many markets",
  description:
    "One connection for up to 200 markets, as gzip if the client accepts it. Of each market there " +
    "is a frame with a snapshot, and then one with each change. `since` is the version of the " +
    "frame before; it equals `version` if only the status or expired orders changed. A snapshot " +
    "may come again, in place of changes that the client was too slow to take. `Last-Event-ID` is " +
    "not kept: a new connection begins with snapshots. It counts as one opening of a market stream, " +
    "and as one open stream, for each 20 markets.",
  auth: "none",
  rateLimit: "stream",
  countOf: (_body, { markets }) => {
    const count = typeof markets === "string" ? markets.split(",").length : 1;
    return slotsOf(Math.min(count, MOST_MARKETS));
  },
  request: { query: changeStreamQuery },
  responses: {
    200: { description: "Server-Sent Events.", contentType, schema: marketChangeSchema },
  },
  problems: [marketNotFound],
  handler: ({ query: { markets }, address, request, response }, { streams }) =>
    answerBy(async () => {
      await streams.slots.take({ address, slots: slotsOf(markets.length) }, response);
      const isCompressed = request.acceptsEncodings("gzip") === "gzip";
      const isKnown = await streams.changes.open(markets, { response, isCompressed });
      if (!isKnown) throw new ProblemError(marketNotFound);
    }, response),
});

const order = orderSchema.shape;

const eventFields = {
  orderId: uuidSchema,
  marketId: uuidSchema,
  side: order.side,
  price: order.price,
  quantity: order.quantity,
};

export const userEventSchema = z
  .discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("connected").meta({
        description: "first, whose `id` is where the stream begins",
      }),
    }),
    z.strictObject({
      type: z.literal("order_pending").meta({ description: "a live market accepted an order" }),
      ...eventFields,
      releaseAt: timestampSchema,
      budgetCents: order.budgetCents,
    }),
    z.strictObject({
      type: z.literal("order_released").meta({ description: "its delay is over" }),
      ...eventFields,
      status: z.enum(["open", "partially_filled", "filled", "cancelled"]),
      filledQuantity: order.filledQuantity,
      cancelReason: order.cancelReason,
      fills: z.int().min(0).meta({ description: "number of trades" }),
      balance: centsSchema.nullable(),
      feeCents: centsSchema.min(0).nullable(),
    }),
    z.strictObject({
      type: z.literal("maker_fill").meta({ description: "an order filled resting orders" }),
      marketId: uuidSchema,
      orderIds: z.array(uuidSchema),
      fillCount: z.int().min(1),
    }),
    z.strictObject({
      type: z.literal("order_cancelled").meta({
        description:
          "an order was cancelled, but not by a request of its user to cancel it: also by the dead " +
          "man's switch, and by an own order that it was in the way of",
      }),
      ...eventFields,
      marketTitle: z.string(),
      filledQuantity: order.filledQuantity,
      cancelReason: order.cancelReason.unwrap(),
    }),
    z.strictObject({
      type: z.literal("fill").meta({
        description: "an order of the caller traded, as in GET /me/fills; if `fills` are included",
      }),
      ...ownFillSchema.shape,
      orderStatus: orderStatusSchema.meta({
        description:
          "right after the trade; `cancelled` on the last fill of an order that cannot rest and " +
          "was not filled",
      }),
    }),
    z.strictObject({
      type: z.literal("settled").meta({
        description: "a market was resolved, or its resolution corrected; if `settlements` are",
      }),
      marketId: uuidSchema,
      outcome: outcomeSchema,
      payoutCents: centsSchema.min(0).meta({
        description:
          "for all the caller's shares, by the resolution that holds; after a correction this is " +
          "the new total, and not what moved: the last event of a market counts",
      }),
      balance: centsSchema.meta({ description: "after it" }),
    }),
    z.strictObject({
      type: z.literal("market_status").meta({
        description: "of a market where the caller has open orders or shares; if `markets` are",
      }),
      marketId: uuidSchema,
      status: marketStatusSchema,
    }),
  ])
  .meta({ id: "UserEvent" });

const includable = ["fills", "settlements", "markets"] as const;
const oneIncluded = `(${includable.join("|")})`;

const userStreamQuery = z.object({
  include: z
    .string()
    .regex(
      new RegExp(`^${oneIncluded}(,${oneIncluded})*$`),
      `must be some of ${includable.join(", ")}, with commas between them`,
    )
    .optional()
    .meta({
      description: "more frames: `fills`, `settlements`, `markets`, with commas between them",
    }),
});

const userStream = (auth: "key" | "session", path: string, operationId: string, summary: string) =>
  route({
    method: "get",
    path,
    operationId,
    tag: "Streams",
    summary,
    auth,
    description:
      "The `data` of each frame is an event, the first one `connected`. Each frame has an `id`; they " +
      "rise in the order of the commits. With header `Last-Event-ID` the stream goes on behind that " +
      "id: every event is sent once, whichever server answers. Ids are kept for 24 hours.",
    rateLimit: "stream",
    goesOn: true,
    request: { query: userStreamQuery },
    responses: {
      200: {
        description:
          "Server-Sent Events. From time to time a frame has an `id` alone, which is how far the " +
          "stream has come.",
        contentType,
        schema: userEventSchema,
      },
    },
    problems: rejections("EVENTS_GONE"),
    handler: ({ caller, userId, address, query, request, response }, { streams }) =>
      answerBy(async () => {
        const given = request.get("last-event-id");
        // Some libraries send an empty one with the first request.
        const lastEventId = given === "" ? undefined : given;
        const position = await streams.user.findPosition(lastEventId);
        if (position === undefined) throw new ProblemError(rejection("EVENTS_GONE"));
        await streams.slots.take({ address, userId, slots: 1 }, response);
        const isReturning = lastEventId !== undefined;
        const wanted = query.include?.split(",") ?? [];
        const include = includable.filter((kind) => wanted.includes(kind));
        streams.user.open(caller, response, { position, isReturning, include });
      }, response),
  });

export const streamRoutes = [
  marketStream("/api/v1/markets/:id/stream", "streamMarket", "The snapshots of a market"),
  changeStream,
  userStream("key", "/api/v1/user/stream", "streamUser", "What happens to the caller's orders"),
  marketStream(
    "/api/stream/market/:id",
    "streamMarketForPages",
    "The snapshots of a market, for pages of the website",
  ),
  userStream(
    "session",
    "/api/stream/user",
    "streamUserForPages",
    "What happens to the orders of the session's user, for pages of the website",
  ),
];
