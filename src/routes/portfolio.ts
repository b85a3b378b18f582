import type { Express } from "express";
import { getPortfolio, listAccountOrders } from "../database/api.ts";
import { withRetries } from "../database/failures.ts";
import { userIdOf } from "../http/authentication.ts";
import { sendJson } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import { listAccountOrdersQuerySchema } from "../schemas/portfolio.ts";
import type { Services } from "../services.ts";

/** What the caller has: cash, shares, orders. */
export function installPortfolio(app: Express, { access, pool }: Services): void {
  app.get("/api/v1/me/orders", access.accountRead, async (request, response) => {
    const { status, page, limit } = validate(listAccountOrdersQuerySchema, request.query);
    const userId = userIdOf(response);
    const orders = await withRetries(
      pool,
      (client) => listAccountOrders(client, userId, status, page, limit),
      { repeatable: true },
    );
    sendJson(response, 200, orders);
  });

  app.get("/api/v1/me/portfolio", access.accountRead, async (_request, response) => {
    const userId = userIdOf(response);
    const portfolio = await withRetries(pool, (client) => getPortfolio(client, userId), {
      repeatable: true,
    });
    sendJson(response, 200, portfolio);
  });
}
