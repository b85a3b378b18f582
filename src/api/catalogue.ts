import { z } from "zod";
import { plainProblem } from "../http/problems.ts";
import {
  categoryNotFound,
  centsSchema,
  found,
  idParams,
  idsSchema,
  pageQuerySchema,
  paginated,
  priceSchema,
  slugSchema,
  timestampSchema,
  uuidSchema,
} from "./common.ts";
import {
  chanceSchema,
  listedMarketSchema,
  marketStatusSchema,
  outcomeSchema,
  searchWordsSchema,
} from "./markets.ts";
import { route } from "./route.ts";

/** What can be traded, by category and by event. Public. */

export const eventNotFound = plainProblem(404, "Event not found");

/** A text that is no slug is not looked up. */
const slugParams = { schema: z.object({ slug: slugSchema }), otherwise: categoryNotFound };

/** Categories change rarely. */
const categoryCaching = { freshSeconds: 60, staleSeconds: 300 };
/** As long as for a single market, since these lists show prices too. */
const listCaching = { freshSeconds: 10, staleSeconds: 30 };

export const listCategoriesResponseSchema = z.strictObject({
  data: z.array(z.strictObject({ slug: slugSchema, name: z.string() }).meta({ id: "Category" })),
});

const categories = route({
  method: "get",
  path: "/api/v1/categories",
  operationId: "listCategories",
  tag: "Catalogue",
  summary: "The categories, in display order",
  auth: "public",
  rateLimit: "read",
  responses: {
    200: {
      description: "All categories.",
      schema: listCategoriesResponseSchema,
      caching: categoryCaching,
    },
  },
  handler: (_call, { publicReads }) => publicReads.listCategories(),
});

const eventSchema = z
  .strictObject({
    id: uuidSchema,
    title: z.string(),
    description: z.string().nullable(),
    category: slugSchema.meta({ description: "category slug" }),
    startsAt: timestampSchema.nullable(),
    endsAt: timestampSchema.nullable(),
    createdAt: timestampSchema,
    thumbnailId: uuidSchema.nullable(),
    thumbnailUrl: z.string().nullable(),
  })
  .meta({ id: "Event" });

export const listEventsResponseSchema = paginated(eventSchema);

const eventsOfCategory = route({
  method: "get",
  path: "/api/v1/categories/:slug/events",
  operationId: "listEvents",
  tag: "Catalogue",
  summary: "The events of a category, newest first",
  auth: "public",
  rateLimit: "read",
  request: { query: pageQuerySchema, params: slugParams },
  responses: {
    200: {
      description: "A page of events.",
      schema: listEventsResponseSchema,
      caching: listCaching,
    },
  },
  handler: async ({ params: { slug }, query: { page, limit } }, { publicReads }) => {
    const events = await publicReads.listEvents({ category: slug, page, pageSize: limit });
    return found(events, categoryNotFound);
  },
});

export const listMarketsResponseSchema = paginated(listedMarketSchema);

const marketsOfCategory = route({
  method: "get",
  path: "/api/v1/categories/:slug/markets",
  operationId: "listMarkets",
  tag: "Catalogue",
  summary: "The markets of a category, newest first",
  auth: "public",
  rateLimit: "read",
  request: {
    query: pageQuerySchema.extend({
      status: z.enum(["open", "closed"]).default("open").meta({
        description:
          "`closed` lists closed and resolved markets. Paused markets are in neither list.",
      }),
    }),
    params: slugParams,
  },
  responses: {
    200: {
      description: "A page of markets.",
      schema: listMarketsResponseSchema,
      caching: listCaching,
    },
  },
  handler: async ({ params: { slug }, query: { status, page, limit } }, { publicReads }) => {
    const markets = await publicReads.listCategoryMarkets({
      category: slug,
      status,
      page,
      pageSize: limit,
    });
    return found(markets, categoryNotFound);
  },
});

const events = route({
  method: "get",
  path: "/api/v1/events",
  operationId: "searchEvents",
  tag: "Catalogue",
  summary: "The events of all categories that have markets, by words",
  description:
    "An event is listed when its title, together with that of one of its markets, has all words, " +
    "as the beginning of a word or in another form of it. At most 10,000 events are counted and " +
    "listed; with words, the events of at most 1,000 markets.",
  auth: "public",
  rateLimit: "read",
  request: {
    query: pageQuerySchema.extend({
      query: searchWordsSchema.optional().meta({
        description: "words; unless given, all events",
      }),
      status: z.enum(["open", "closed"]).default("open").meta({
        description: "open: one of its markets is; closed: all of them are, or are resolved",
      }),
      sort: z.enum(["volume", "newest", "closing"]).default("volume").meta({
        description: "volume: of all its markets; closing: its first open market, soonest first",
      }),
    }),
  },
  responses: {
    200: {
      description: "A page of events.",
      schema: listEventsResponseSchema,
      caching: listCaching,
    },
  },
  handler: ({ query: { limit, ...query } }, { publicReads }) =>
    publicReads.searchEvents({ ...query, pageSize: limit }),
});

/** The event with its markets, without the fields that the event has. */
export const eventWithMarketsSchema = eventSchema
  .extend({
    markets: z.array(
      listedMarketSchema
        .omit({ category: true, eventId: true, createdAt: true })
        .meta({ id: "EventMarket" }),
    ),
  })
  .meta({ id: "EventWithMarkets" });

const event = route({
  method: "get",
  path: "/api/v1/events/:id",
  operationId: "getEvent",
  tag: "Catalogue",
  summary: "An event with its markets, in the order of their creation",
  auth: "public",
  rateLimit: "read",
  request: { params: idParams },
  responses: {
    200: { description: "The event.", schema: eventWithMarketsSchema, caching: listCaching },
  },
  problems: [eventNotFound],
  handler: async ({ params: { id } }, { publicReads }) => {
    const view = await publicReads.getEvent({ eventId: id });
    return found(view, eventNotFound);
  },
});

export const outcomesSchema = z
  .strictObject({
    exclusive: z.boolean().meta({ description: "exactly one of the outcomes resolves YES" }),
    outcomes: z.array(
      z
        .strictObject({
          marketId: uuidSchema,
          outcomeName: z.string().meta({ description: "the title of a market that has none" }),
          position: z.int().nullable().meta({ description: "its place in the event" }),
          ...chanceSchema.shape,
          bestBid: priceSchema.nullable().meta({ description: "YES price" }),
          bestAsk: priceSchema.nullable().meta({ description: "YES price" }),
          volume: centsSchema.min(0).meta({ description: "EUR-cents, of YES and NO" }),
          status: marketStatusSchema,
          resolvedOutcome: outcomeSchema.nullable(),
        })
        .meta({ id: "EventOutcome" }),
    ),
  })
  .meta({ id: "EventOutcomes" });

const outcomes = route({
  method: "get",
  path: "/api/v1/events/:id/outcomes",
  operationId: "listOutcomes",
  tag: "Catalogue",
  summary: "The markets of an event as outcomes, the most likely first",
  description: "Outcomes without a chance, such as resolved ones, come last, by their place.",
  auth: "public",
  rateLimit: "read",
  request: { params: idParams },
  responses: {
    200: { description: "The outcomes.", schema: outcomesSchema, caching: listCaching },
  },
  problems: [eventNotFound],
  handler: async ({ params: { id } }, { publicReads }) =>
    found(await publicReads.listOutcomes({ eventId: id }), eventNotFound),
});

const eventHeadings = route({
  method: "get",
  path: "/api/v1/event-headings",
  operationId: "listEventHeadings",
  tag: "Catalogue",
  summary: "What a list of markets shows of their events",
  description: "Unknown events are left out.",
  auth: "public",
  rateLimit: "read",
  request: { query: z.object({ events: idsSchema("events", 100) }) },
  responses: {
    200: {
      description: "The headings, by id.",
      schema: z.strictObject({
        data: z.array(
          eventSchema
            .pick({ id: true, title: true, startsAt: true, endsAt: true })
            .extend({
              liveDelayMs: z.int().min(0).nullable().meta({
                description:
                  "how long orders wait while the event is live; null if it is not live-traded",
              }),
            })
            .meta({ id: "EventHeading" }),
        ),
      }),
      caching: listCaching,
    },
  },
  handler: ({ query }, { publicReads }) =>
    publicReads.listEventHeadings({ eventIds: query.events }),
});

export const catalogueRoutes = [
  categories,
  eventsOfCategory,
  marketsOfCategory,
  events,
  event,
  outcomes,
  eventHeadings,
];
