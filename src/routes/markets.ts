import type { Express, Response } from "express";
import type { MarketView } from "../database/calls.ts";
import { plainProblem, ProblemError } from "../errors.ts";
import { allowCaching } from "../http/caching.ts";
import type { Caching } from "../http/caching.ts";
import { sendJson } from "../http/respond.ts";
import { validate, validateId } from "../http/validate.ts";
import { pageQuerySchema } from "../schemas/common.ts";
import type { Services } from "../services.ts";

const marketCaching: Caching = { freshSeconds: 10, staleSeconds: 30 };
const tradingCaching: Caching = { freshSeconds: 5, staleSeconds: 10 };

/** Public views of one market. */
export function installMarkets(app: Express, { access, reads }: Services): void {
  app.get("/api/v1/markets/:id", access.publicRead, async (request, response) => {
    const view = await reads.getMarket({ marketId: validateId(request.params.id) });
    sendView(response, view, marketCaching);
  });

  app.get("/api/v1/markets/:id/orderbook", access.publicRead, async (request, response) => {
    const view = await reads.getOrderBook({ marketId: validateId(request.params.id) });
    sendView(response, view, tradingCaching);
  });

  app.get("/api/v1/markets/:id/trades", access.publicRead, async (request, response) => {
    const marketId = validateId(request.params.id);
    const { page, limit: pageSize } = validate(pageQuerySchema, request.query);
    const view = await reads.listTrades({ marketId, page, pageSize });
    sendView(response, view, tradingCaching);
  });
}

function sendView(response: Response, view: MarketView | undefined, caching: Caching): void {
  // The code MARKET_NOT_FOUND is that of an order for an unknown market, and a 400.
  if (view === undefined) throw new ProblemError(plainProblem(404, "Market not found"));
  allowCaching(response, caching);
  response.setHeader("X-Market-Version", String(view.version));
  sendJson(response, 200, view.body);
}
