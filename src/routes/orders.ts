import type { Express } from "express";
import { amendOrder, cancelOrder, getOrder, listOrders } from "../database/api.ts";
import { withRetries } from "../database/failures.ts";
import { ProblemError, refusal } from "../errors.ts";
import { userIdOf } from "../http/authentication.ts";
import { jsonBody } from "../http/json_body.ts";
import { sendJson } from "../http/respond.ts";
import { sendResult } from "../http/send_result.ts";
import { validate, validateId } from "../http/validate.ts";
import {
  amendOrderSchema,
  cancelBatchSchema,
  listOrdersQuerySchema,
  placeOrderSchema,
} from "../schemas/orders.ts";
import type { Services } from "../services.ts";
import { cancelOrders } from "../trading/cancel_orders.ts";
import { untilFinished } from "../trading/unfinished.ts";

/** Placing, amending, cancelling and reading the caller's orders. */
export function installOrders(app: Express, services: Services): void {
  const { access, announcer, orderGatherer, orders, pool } = services;

  app.post("/api/v1/orders", access.command, jsonBody, async (request, response) => {
    const order = validate(placeOrderSchema, request.body);
    const outcome = await orderGatherer.place({ userId: userIdOf(response), ...order });
    if (outcome.replayed) response.setHeader("Idempotency-Replayed", "true");
    sendResult(response, outcome.replayed ? 200 : 201, outcome);
  });

  app.post("/api/v1/orders/cancel-batch", access.command, jsonBody, async (request, response) => {
    const { orderIds } = validate(cancelBatchSchema, request.body);
    const answer = await cancelOrders(services, userIdOf(response), orderIds);
    announcer.ring();
    sendJson(response, 200, answer);
  });

  app.patch("/api/v1/orders/:id", access.command, jsonBody, async (request, response) => {
    const orderId = validateId(request.params.id);
    const { price, quantity } = validate(amendOrderSchema, request.body);
    const userId = userIdOf(response);
    const outcome = await untilFinished(() =>
      withRetries(orders, (client) => amendOrder(client, userId, orderId, price, quantity)),
    );
    announcer.ring();
    sendResult(response, 200, outcome);
  });

  app.delete("/api/v1/orders/:id", access.command, async (request, response) => {
    const orderId = validateId(request.params.id);
    const userId = userIdOf(response);
    const outcome = await withRetries(orders, (client) => cancelOrder(client, userId, orderId));
    announcer.ring();
    sendResult(response, 200, outcome);
  });

  app.get("/api/v1/orders", access.accountRead, async (request, response) => {
    const { marketId, status } = validate(listOrdersQuerySchema, request.query);
    const userId = userIdOf(response);
    const listed = await withRetries(
      pool,
      (client) => listOrders(client, userId, marketId, status),
      { repeatable: true },
    );
    sendJson(response, 200, listed);
  });

  app.get("/api/v1/orders/:id", access.accountRead, async (request, response) => {
    const orderId = validateId(request.params.id);
    const userId = userIdOf(response);
    const order = await withRetries(pool, (client) => getOrder(client, userId, orderId), {
      repeatable: true,
    });
    if (order === null) throw new ProblemError(refusal("ORDER_NOT_FOUND"));
    sendJson(response, 200, order);
  });
}
