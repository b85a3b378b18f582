import {
  amendOrderResponseSchema,
  amendOrderSchema,
  batchRejectedSchema,
  cancelBatchResponseSchema,
  cancelBatchSchema,
  cancelOrderResponseSchema,
  listedOrderSchema,
  listOrdersQuerySchema,
  listOrdersResponseSchema,
  placeBatchResponseSchema,
  placeBatchSchema,
  placeOrderResponseSchema,
  placeOrderSchema,
  previewResponseSchema,
} from "../schemas/orders.ts";
import { idParams, invalidId, refusals } from "./route.ts";
import type { Route } from "./route.ts";

/** Whatever asks for a trade may be answered so. */
const refusalsToTrade = refusals(
  "MARKET_NOT_OPEN",
  "SELF_TRADE_BLOCKED",
  "POST_ONLY_WOULD_CROSS",
  "INSUFFICIENT_LIQUIDITY",
  "INSUFFICIENT_BALANCE",
  "SELF_EXCLUDED",
  "ACCOUNT_FROZEN",
  "LOSS_LIMIT",
  "LIMITS_SETUP_REQUIRED",
  "TRADING_PAUSED",
);

/** Placing, amending, cancelling and reading the caller's orders. */
export const orderRoutes: Route[] = [
  {
    method: "get",
    path: "/api/v1/orders",
    operationId: "listOrders",
    tag: "Orders",
    summary: "The caller's orders, newest first, at most 200",
    auth: "key",
    query: listOrdersQuerySchema,
    answers: [{ status: 200, description: "The orders.", schema: listOrdersResponseSchema }],
  },
  {
    method: "post",
    path: "/api/v1/orders",
    operationId: "placeOrder",
    tag: "Orders",
    summary: "Places an order",
    description:
      "Send an `idempotencyKey` with every order: then it is safe to send the same again when the " +
      "answer got lost.",
    auth: "key",
    body: placeOrderSchema,
    answers: [
      { status: 201, description: "A new order.", schema: placeOrderResponseSchema },
      {
        status: 200,
        description: "A replay: the order that the idempotency key stands for, as it is now.",
        schema: placeOrderResponseSchema,
        headers: ["Idempotency-Replayed"],
      },
    ],
    problems: [...refusals("MARKET_NOT_FOUND"), ...refusalsToTrade],
  },
  {
    method: "post",
    path: "/api/v1/orders/batch",
    operationId: "placeOrders",
    tag: "Orders",
    summary: "Places up to 50 orders, of any markets",
    description:
      "Each order stands alone and counts as a request: its result has the status and the body " +
      "that POST /orders would have answered with. With `atomic` all are placed or none is.",
    auth: "key",
    body: placeBatchSchema,
    answers: [
      { status: 200, description: "A result for each order.", schema: placeBatchResponseSchema },
      {
        status: 409,
        description: "An order of an atomic batch was rejected: none was placed.",
        schema: batchRejectedSchema,
      },
    ],
  },
  {
    method: "post",
    path: "/api/v1/orders/preview",
    operationId: "previewOrder",
    tag: "Orders",
    summary: "What an order would do now; it changes nothing",
    auth: "key",
    isRead: true,
    body: placeOrderSchema,
    answers: [
      {
        status: 200,
        description: "What would become of the order, be it accepted or rejected.",
        schema: previewResponseSchema,
      },
    ],
  },
  {
    method: "get",
    path: "/api/v1/orders/:id",
    operationId: "getOrder",
    tag: "Orders",
    summary: "One of the caller's orders",
    auth: "key",
    params: idParams,
    answers: [{ status: 200, description: "The order.", schema: listedOrderSchema }],
    problems: [invalidId, ...refusals("ORDER_NOT_FOUND")],
  },
  {
    method: "patch",
    path: "/api/v1/orders/:id",
    operationId: "amendOrder",
    tag: "Orders",
    summary: "Changes the price or the quantity of one of the caller's orders",
    description:
      "A lower quantity keeps the order's place in the queue. Anything else replaces the order.",
    auth: "key",
    params: idParams,
    body: amendOrderSchema,
    answers: [
      {
        status: 200,
        description: "The order as it is now, or the one that replaces it.",
        schema: amendOrderResponseSchema,
      },
    ],
    problems: [
      invalidId,
      ...refusals(
        "ORDER_NOT_FOUND",
        "ORDER_NOT_AMENDABLE",
        "BELOW_FILLED",
        "BUDGET_ORDER_NOT_AMENDABLE",
      ),
      ...refusalsToTrade,
    ],
  },
  {
    method: "delete",
    path: "/api/v1/orders/:id",
    operationId: "cancelOrder",
    tag: "Orders",
    summary: "Cancels one of the caller's orders",
    auth: "key",
    params: idParams,
    answers: [
      {
        status: 200,
        description: "The cancelled order; the balance is unchanged.",
        schema: cancelOrderResponseSchema,
      },
    ],
    problems: [invalidId, ...refusals("ORDER_NOT_CANCELLABLE", "ORDER_NOT_FOUND")],
  },
  {
    method: "post",
    path: "/api/v1/orders/cancel-batch",
    operationId: "cancelOrders",
    tag: "Orders",
    summary: "Cancels up to 100 of the caller's orders, each for itself",
    auth: "key",
    body: cancelBatchSchema,
    answers: [
      {
        status: 200,
        description: "What was cancelled and what was not.",
        schema: cancelBatchResponseSchema,
      },
    ],
  },
];
