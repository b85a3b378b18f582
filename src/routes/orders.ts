import type { Express } from "express";
import type { OrderRequest } from "../database/calls.ts";
import { ProblemError, refusal } from "../errors.ts";
import type { Problem } from "../errors.ts";
import { userIdOf } from "../http/authentication.ts";
import { jsonBody } from "../http/json_body.ts";
import { sendJson } from "../http/respond.ts";
import { sendResult } from "../http/send_result.ts";
import { validate, validateId } from "../http/validate.ts";
import {
  amendOrderSchema,
  cancelBatchSchema,
  listOrdersQuerySchema,
  looseBatchSchema,
  placeBatchSchema,
  placeOrderSchema,
} from "../schemas/orders.ts";
import type { Services } from "../services.ts";
import { balanceOf } from "../trading/balance_of.ts";
import { placeAll, placeEach } from "../trading/place_batch.ts";
import { cancelOrders } from "../trading/cancel_orders.ts";
import { untilFinished } from "../trading/unfinished.ts";

/** Placing, amending, cancelling and reading the caller's orders. */
export function installOrders(app: Express, services: Services): void {
  const { access, commands, orderGatherer, outboxRelay, reads } = services;

  app.post("/api/v1/orders", access.command, jsonBody, async (request, response) => {
    const order = validate(placeOrderSchema, request.body);
    const outcome = await orderGatherer.place({ userId: userIdOf(response), ...order });
    if (outcome.replayed) response.setHeader("Idempotency-Replayed", "true");
    sendResult(response, outcome.replayed ? 200 : 201, outcome);
  });

  app.post("/api/v1/orders/batch", access.orderBatch, async (request, response) => {
    const userId = userIdOf(response);
    const { atomic, orders: given } = validate(looseBatchSchema, request.body);
    const results =
      atomic === true
        ? await placeAll(
            services,
            validate(placeBatchSchema, request.body).orders.map((order) => ({ userId, ...order })),
          )
        : await placeEach(
            services,
            given.map((order) => orderOrProblem(order, userId)),
          );
    const balance = await balanceOf(services, userId);
    sendJson(response, 200, `{"results":${results},"balance":${balance}}`);
  });

  app.post("/api/v1/orders/preview", access.accountRead, jsonBody, async (request, response) => {
    const terms = validate(placeOrderSchema, request.body);
    const order = { userId: userIdOf(response), ...terms, idempotencyKey: null };
    sendResult(response, 200, await reads.previewOrder({ order }));
  });

  app.post("/api/v1/orders/cancel-batch", access.command, jsonBody, async (request, response) => {
    const { orderIds } = validate(cancelBatchSchema, request.body);
    const answer = await cancelOrders(services, userIdOf(response), orderIds);
    outboxRelay.ring();
    sendJson(response, 200, answer);
  });

  app.patch("/api/v1/orders/:id", access.command, jsonBody, async (request, response) => {
    const orderId = validateId(request.params.id);
    const { price, quantity } = validate(amendOrderSchema, request.body);
    const userId = userIdOf(response);
    const outcome = await untilFinished(() =>
      commands.amendOrder({ userId, orderId, price, quantity }),
    );
    outboxRelay.ring();
    sendResult(response, 200, outcome);
  });

  app.delete("/api/v1/orders/:id", access.command, async (request, response) => {
    const orderId = validateId(request.params.id);
    const userId = userIdOf(response);
    const outcome = await commands.cancelOrder({ userId, orderId });
    outboxRelay.ring();
    sendResult(response, 200, outcome);
  });

  app.get("/api/v1/orders", access.accountRead, async (request, response) => {
    const { marketId, status } = validate(listOrdersQuerySchema, request.query);
    const userId = userIdOf(response);
    sendJson(response, 200, await reads.listOrders({ userId, marketId, status }));
  });

  app.get("/api/v1/orders/:id", access.accountRead, async (request, response) => {
    const orderId = validateId(request.params.id);
    const userId = userIdOf(response);
    const order = await reads.getOrder({ userId, orderId });
    if (order === null) throw new ProblemError(refusal("ORDER_NOT_FOUND"));
    sendJson(response, 200, order);
  });
}

/** An order of a batch, or what is wrong with it as POST /orders would say it. */
function orderOrProblem(body: unknown, userId: string): OrderRequest | Problem {
  try {
    return { userId, ...validate(placeOrderSchema, body) };
  } catch (error) {
    if (error instanceof ProblemError) return error.problem;
    throw error;
  }
}
