import { z } from "zod";
import { pageQuerySchema, paginated, timestampSchema, uuidSchema } from "./common.ts";
import { listedMarketSchema } from "./markets.ts";

/** As the slugs of categories are. */
export const slugSchema = z
  .string()
  .max(60)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/)
  .meta({ description: "URL-safe name" });

/** A category. */
export const categorySchema = z
  .strictObject({ slug: slugSchema, name: z.string() })
  .meta({ id: "Category" });

/** The answer of GET /categories. */
export const listCategoriesResponseSchema = z.strictObject({ data: z.array(categorySchema) });

/** An event in a list. */
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

/** A market in the answer of GET /events/:id. */
const nestedMarketSchema = listedMarketSchema
  .omit({ category: true, eventId: true, createdAt: true })
  .meta({ id: "EventMarket" });

/** The answer of GET /events/:id. */
export const eventWithMarketsSchema = eventSchema
  .extend({ markets: z.array(nestedMarketSchema) })
  .meta({ id: "EventWithMarkets" });

/** The answer of GET /categories/:slug/events. */
export const listEventsResponseSchema = paginated(eventSchema);

/** Which markets of a category. */
export const listMarketsQuerySchema = pageQuerySchema.extend({
  status: z.enum(["open", "closed"]).default("open").meta({
    description: "closed lists closed and resolved markets",
  }),
});

/** The answer of GET /categories/:slug/markets. */
export const listMarketsResponseSchema = paginated(listedMarketSchema);
