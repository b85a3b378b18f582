import type { Express, Response } from "express";
import { getEvent, listCategories, listCategoryMarkets, listEvents } from "../database/api.ts";
import { withRetries } from "../database/failures.ts";
import { plainProblem, ProblemError } from "../errors.ts";
import { allowCaching } from "../http/caching.ts";
import type { Caching } from "../http/caching.ts";
import { sendJson } from "../http/respond.ts";
import { validate, validateId } from "../http/validate.ts";
import { listMarketsQuerySchema, slugSchema } from "../schemas/catalogue.ts";
import { pageQuerySchema } from "../schemas/common.ts";
import type { Services } from "../services.ts";

/** Operators alone make categories. */
const categoryCaching: Caching = { freshSeconds: 60, staleSeconds: 300 };
/** As of a single market: these show prices too. */
const listCaching: Caching = { freshSeconds: 10, staleSeconds: 30 };

/** What can be traded, by category and by event. Public. */
export function installCatalogue(app: Express, { access, pool }: Services): void {
  app.get("/api/v1/categories", access.publicRead, async (_request, response) => {
    const categories = await withRetries(pool, (client) => listCategories(client), {
      repeatable: true,
    });
    allowCaching(response, categoryCaching);
    sendJson(response, 200, categories);
  });

  app.get("/api/v1/categories/:slug/events", access.publicRead, async (request, response) => {
    const { page, limit } = validate(pageQuerySchema, request.query);
    const slug = slugOf(request.params.slug);
    const events = await withRetries(pool, (client) => listEvents(client, slug, page, limit), {
      repeatable: true,
    });
    sendFound(response, events, "Category not found");
  });

  app.get("/api/v1/categories/:slug/markets", access.publicRead, async (request, response) => {
    const { status, page, limit } = validate(listMarketsQuerySchema, request.query);
    const slug = slugOf(request.params.slug);
    const markets = await withRetries(
      pool,
      (client) => listCategoryMarkets(client, slug, status, page, limit),
      { repeatable: true },
    );
    sendFound(response, markets, "Category not found");
  });

  app.get("/api/v1/events/:id", access.publicRead, async (request, response) => {
    const id = validateId(request.params.id);
    const event = await withRetries(pool, (client) => getEvent(client, id), { repeatable: true });
    sendFound(response, event, "Event not found");
  });
}

/** What no category can be called is not looked for. */
function slugOf(text: string): string {
  const result = slugSchema.safeParse(text);
  if (!result.success) throw new ProblemError(plainProblem(404, "Category not found"));
  return result.data;
}

function sendFound(response: Response, body: string | null, otherwise: string): void {
  if (body === null) throw new ProblemError(plainProblem(404, otherwise));
  allowCaching(response, listCaching);
  sendJson(response, 200, body);
}
