import type { Express } from "express";
import { amendOrder, cancelOrder, getOrder, listOrders, previewOrder } from "../database/api.ts";
import type { OrderRequest } from "../database/api.ts";
import { withRetries } from "../database/failures.ts";
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
  previewOrderSchema,
} from "../schemas/orders.ts";
import type { Services } from "../services.ts";
import { balanceOf } from "../trading/balance_of.ts";
import { placeAll, placeEach } from "../trading/place_batch.ts";
import { cancelOrders } from "../trading/cancel_orders.ts";
import { untilFinished } from "../trading/unfinished.ts";

/** Placing, amending, cancelling and reading the caller's orders. */
export function installOrders(app: Express, services: Services): void {
  const { access, announcer, orderGatherer, orders, pool, turns } = services;

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
    const terms = validate(previewOrderSchema, request.body);
    const userId = userIdOf(response);
    const order = { userId, ...terms, idempotencyKey: null };
    const preview = await withRetries(pool, (client) => previewOrder(client, order), {
      repeatable: true,
      turn: turns.preview(userId, terms.marketId),
    });
    sendResult(response, 200, preview);
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
    const turn = turns.command(userId);
    const outcome = await untilFinished(() =>
      withRetries(orders, (client) => amendOrder(client, userId, orderId, price, quantity), {
        turn,
      }),
    );
    announcer.ring();
    sendResult(response, 200, outcome);
  });

  app.delete("/api/v1/orders/:id", access.command, async (request, response) => {
    const orderId = validateId(request.params.id);
    const userId = userIdOf(response);
    const outcome = await withRetries(orders, (client) => cancelOrder(client, userId, orderId), {
      turn: turns.command(userId),
    });
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

/** An order of a batch, or what is wrong with it as POST /orders would say it. */
function orderOrProblem(body: unknown, userId: string): OrderRequest | Problem {
  try {
    return { userId, ...validate(placeOrderSchema, body) };
  } catch (error) {
    if (error instanceof ProblemError) return error.problem;
    throw error;
  }
}
