import type { Express } from "express";
import { userIdOf } from "../http/authentication.ts";
import { sendJson } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import { listAccountOrdersQuerySchema } from "../schemas/portfolio.ts";
import type { Services } from "../services.ts";

/** What the caller has: cash, shares, orders. */
export function installPortfolio(app: Express, { access, reads }: Services): void {
  app.get("/api/v1/me/orders", access.accountRead, async (request, response) => {
    const { status, page, limit } = validate(listAccountOrdersQuerySchema, request.query);
    const userId = userIdOf(response);
    const orders = await reads.listAccountOrders({ userId, status, page, pageSize: limit });
    sendJson(response, 200, orders);
  });

  app.get("/api/v1/me/portfolio", access.accountRead, async (_request, response) => {
    sendJson(response, 200, await reads.getPortfolio({ userId: userIdOf(response) }));
  });
}
