import type { Express, Response } from "express";
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
export function installCatalogue(app: Express, { access, reads }: Services): void {
  app.get("/api/v1/categories", access.publicRead, async (_request, response) => {
    const categories = await reads.listCategories();
    allowCaching(response, categoryCaching);
    sendJson(response, 200, categories);
  });

  app.get("/api/v1/categories/:slug/events", access.publicRead, async (request, response) => {
    const { page, limit: pageSize } = validate(pageQuerySchema, request.query);
    const category = slugOf(request.params.slug);
    const events = await reads.listEvents({ category, page, pageSize });
    sendFound(response, events, "Category not found");
  });

  app.get("/api/v1/categories/:slug/markets", access.publicRead, async (request, response) => {
    const { status, page, limit: pageSize } = validate(listMarketsQuerySchema, request.query);
    const category = slugOf(request.params.slug);
    const markets = await reads.listCategoryMarkets({ category, status, page, pageSize });
    sendFound(response, markets, "Category not found");
  });

  app.get("/api/v1/events/:id", access.publicRead, async (request, response) => {
    const event = await reads.getEvent({ eventId: validateId(request.params.id) });
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
