import type { Response } from "express";
import { z } from "zod";
import type { CommandResult, OrderRequest } from "../database/calls.ts";
import { DatabaseFailure } from "../database/failures.ts";
import { resultsIn } from "../engine/whole_calls.ts";
import { problemOfCommand } from "../http/error_handler.ts";
import { invalidRequest, ProblemError, rejection, rejectionByName } from "../http/problems.ts";
import type { Problem } from "../http/problems.ts";
import { validate } from "../http/validate.ts";
import { acceptedBody, balanceSchema, errorSchema, uuidSchema } from "./common.ts";
import type { Context } from "./context.ts";
import { keyOfPart, noteReplay } from "./idempotency.ts";
import type { Idempotency } from "./idempotency.ts";
import { changedOrderSchema } from "./order_schemas.ts";
import { placeOrderResponseSchema, placeOrderSchema, whenPlacingUnknown } from "./orders.ts";
import { route } from "./route.ts";

/** Placing and cancelling many orders of the caller with one request. */

const ordersIn = <Order extends z.ZodType>(order: Order) =>
  z.array(order).min(1, "must have at least 1 order").max(50, "must have at most 50 orders");

const placeBatchSchema = z
  .object({
    orders: ordersIn(placeOrderSchema),
    atomic: z
      .boolean()
      .nullish()
      .meta({
        default: false,
        description:
          "all orders are placed or none; then a malformed order, or one of a live market, makes the " +
          "whole request a 400",
      }),
  })
  .meta({ id: "PlaceBatch" });

/** The same with orders that may be malformed: unless atomic, each order stands alone. */
const looseBatchSchema = placeBatchSchema.extend({ orders: ordersIn(z.unknown()) });

/** The same with each order as its schema gives it, or as a {@link MalformedOrder}. */
const readBatchSchema = placeBatchSchema.extend({
  orders: ordersIn(z.unknown().transform(readOrder)),
});

const resultStatusSchema = z.int().min(200).max(599).meta({ description: "of POST /orders" });

export const placeBatchResponseSchema = z.strictObject({
  results: z.array(
    z.strictObject({
      status: resultStatusSchema,
      body: z.union([placeOrderResponseSchema, errorSchema]),
    }),
  ),
  balance: balanceSchema.nullable().meta({
    description: "after the batch; null if it could not be read",
  }),
});

export const batchRejectedSchema = z.strictObject({
  error: z.string(),
  code: z.literal("BATCH_REJECTED"),
  index: z.int().min(0).meta({ description: "of the first order that was rejected, from 0" }),
  result: z.strictObject({ status: resultStatusSchema, body: errorSchema }),
});

const placeBatch = route({
  method: "post",
  path: "/api/v1/orders/batch",
  operationId: "placeOrders",
  tag: "Orders",
  summary: "Places up to 50 orders, of any markets",
  description:
    "Each order stands alone: its result has the status and the body of POST /orders. Results come " +
    "in the order of the orders. Orders of one market are executed in this order, those of " +
    "different markets in any order, so a later one may get the cash that an earlier one would " +
    "have needed. An atomic batch is executed in its order. Each order counts as a request: with " +
    "too few left, the whole batch is 429; a batch larger than the burst is 400.",
  auth: "key",
  rateLimit: "trading",
  countOf: (body) => looseBatchSchema.safeParse(body).data?.orders.length ?? 1,
  whenOutcomeUnknown:
    "retry with the same idempotency keys; without them read your order history first",
  request: { body: readBatchSchema, documentedBody: placeBatchSchema },
  responses: {
    200: { description: "A result for each order.", schema: placeBatchResponseSchema },
    409: {
      description: "An order of an atomic batch was rejected: none was placed.",
      schema: batchRejectedSchema,
    },
  },
  handler: async (
    { body: { orders, atomic }, idempotency, request, response, userId },
    context,
  ) => {
    if (atomic === true) validate(placeBatchSchema, request.body);
    if (idempotency !== undefined) {
      const batch = { orders, atomic: atomic === true };
      const text = await placeKeyed(context, { userId, ...idempotency }, batch, response);
      return { status: 200, text };
    }
    const results =
      atomic === true
        ? await placeAll(context, userId, orders.filter(isWellFormed))
        : await placeEach(context, userId, orders);
    const balance = JSON.stringify(await balanceAfter(context, userId));
    return { status: 200, text: `{"results":[${results.join()}],"balance":${balance}}` };
  },
});

/** A command of a user that is carried out once. */
type KeyedCommand = Idempotency & { userId: string };

type WellFormedOrder = z.output<typeof placeOrderSchema>;

type ReadOrder = WellFormedOrder | MalformedOrder;

/** An order that its schema rejects. */
class MalformedOrder {
  readonly problem: Problem;
  readonly #sent: unknown;

  constructor(problem: Problem, sent: unknown) {
    this.problem = problem;
    this.#sent = sent;
  }

  /**
   * What it stands for in a fingerprint. Like a well-formed order it has the known fields in their
   * order. Lists and objects in it are left out, however deep, since no field takes one.
   */
  toJSON(): unknown {
    const sent = this.#sent;
    if (!isNested(sent)) return sent;
    if (Array.isArray(sent)) return [];
    const fields = Object.entries(placeOrderSchema.shape).map(([name, schema]) => {
      const value = Object.hasOwn(sent, name) ? sent[name as keyof typeof sent] : undefined;
      const { success, data } = schema.safeParse(value);
      return [name, success ? data : isNested(value) ? {} : value] as const;
    });
    return Object.fromEntries(fields);
  }
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isWellFormed(order: ReadOrder): order is WellFormedOrder {
  return !(order instanceof MalformedOrder);
}

function readOrder(body: unknown): ReadOrder {
  try {
    return validate(placeOrderSchema, body);
  } catch (error) {
    if (error instanceof ProblemError) return new MalformedOrder(error.problem, body);
    throw error;
  }
}

/** Places a batch in one transaction, which keeps its results for repetitions of the request. */
async function placeKeyed(
  { orderGatherer }: Context,
  once: KeyedCommand,
  { orders: read, atomic }: { orders: ReadOrder[]; atomic: boolean },
  response: Response,
): Promise<string> {
  const orders = read.filter(isWellFormed).map((order) => ({ ...order, userId: once.userId }));
  if (orders.some((order) => order.idempotencyKey === once.idempotencyKey)) {
    const message = "must have other idempotency keys than the header";
    throw new ProblemError(invalidRequest([{ path: "orders", message }]));
  }
  const placed = await orderGatherer.placeKeyed({ ...once, orders, atomic });
  const { results, balance } = resultsIn(acceptedBody(placed));
  if (atomic) throwFirstRejection(results);
  noteReplay(response, placed.replayed);
  const left = results.values();
  const texts = read.map((each) => {
    if (!isWellFormed(each)) return resultOfProblem(each.problem);
    const { value } = left.next();
    if (value === undefined) throw new RangeError("api.run_orders left out an order");
    return resultOf(value);
  });
  return `{"results":[${texts.join()}],"balance":${JSON.stringify(balance)}}`;
}

/** Places orders of which each stands alone. Returns their results as JSON text. */
async function placeEach(
  { logger, orderGatherer }: Context,
  userId: string,
  orders: ReadOrder[],
): Promise<string[]> {
  return await Promise.all(
    orders.map(async (order) => {
      if (!isWellFormed(order)) return resultOfProblem(order.problem);
      try {
        return resultOf(await orderGatherer.place({ userId, ...order }));
      } catch (error) {
        const problem = problemOfCommand(error, whenPlacingUnknown);
        logger[problem === undefined ? "error" : "warn"]({ error }, "an order was not placed");
        return resultOfProblem(problem ?? rejection("INTERNAL_ERROR"));
      }
    }),
  );
}

/**
 * Places all orders and returns their results as JSON text, or places none and throws a problem with
 * the index and the result of the first rejected order.
 */
async function placeAll(
  { orderGatherer }: Context,
  userId: string,
  orders: Omit<OrderRequest, "userId">[],
): Promise<string[]> {
  const results = await orderGatherer.placeAllOrNone(orders.map((order) => ({ userId, ...order })));
  throwFirstRejection(results);
  return results.map(resultOf);
}

/** Throws a problem with the first order of an atomic batch that was rejected, if one was. */
function throwFirstRejection(results: CommandResult[]): void {
  const index = results.findIndex(({ code }) => code !== null);
  const rejected = results[index];
  if (rejected === undefined) return;
  const problem = rejectionByName(rejected.code ?? "", rejected.message);
  // These two concern the request, not that order.
  const isAboutAtomic = problem.body.issues?.[0]?.path === "atomic";
  if (isAboutAtomic || problem.code === "CONFLICT_RETRY") throw new ProblemError(problem);
  const { status, body, ...more } = rejection("BATCH_REJECTED");
  const result = { status: problem.status, body: problem.body };
  throw new ProblemError({ status, body: { ...body, index, result }, ...more });
}

/** What POST /orders would have answered, as JSON text. */
function resultOf({ body, code, message, replayed }: CommandResult): string {
  return code === null
    ? `{"status":${replayed ? 200 : 201},"body":${body}}`
    : resultOfProblem(rejectionByName(code, message));
}

function resultOfProblem({ status, body }: Problem): string {
  return JSON.stringify({ status, body });
}

const failureCodeSchema = z.enum(["not_found", "not_cancellable", "internal"]).meta({
  description:
    "`not_found`: unknown, or of another user. `not_cancellable`: filled or cancelled already. " +
    "`internal`: the server failed, try again.",
});

export const cancelBatchResponseSchema = z.strictObject({
  cancelled: z.array(changedOrderSchema),
  failures: z.array(z.strictObject({ orderId: uuidSchema, code: failureCodeSchema })),
  balance: balanceSchema.nullable().meta({ description: "null if it could not be read" }),
});

const cancelBatch = route({
  method: "post",
  path: "/api/v1/orders/cancel-batch",
  operationId: "cancelOrders",
  tag: "Orders",
  summary: "Cancels up to 100 of the caller's orders, each for itself",
  description:
    "Each order is cancelled in a transaction of its own; one that fails leaves the others alone. " +
    "An id that occurs twice counts once. The answer is 200, also if no order could be cancelled. A " +
    "malformed id makes the whole request a 400, and nothing is cancelled.",
  auth: "key",
  rateLimit: "trading",
  whenOutcomeUnknown: "safe to retry",
  request: {
    body: z
      .object({
        orderIds: z
          .array(uuidSchema)
          .min(1, "must have at least 1 id")
          .max(100, "must have at most 100 ids"),
      })
      .meta({ id: "CancelBatch" }),
  },
  responses: {
    200: {
      description: "What was cancelled and what was not.",
      schema: cancelBatchResponseSchema,
    },
  },
  handler: async ({ body: { orderIds }, idempotency, response, userId }, context) => {
    if (idempotency === undefined) {
      const body = await cancelOrders(context, userId, orderIds);
      context.outboxRelay.ring();
      return { status: 200, body };
    }
    const text = await cancelOnce(context, { userId, ...idempotency }, orderIds, response);
    return { status: 200, text };
  },
});

/** Cancels orders as {@link cancelOrders} does, and keeps the answer for repetitions. */
async function cancelOnce(
  context: Context,
  once: KeyedCommand,
  orderIds: string[],
  response: Response,
): Promise<string> {
  const { commands, outboxRelay, turns } = context;
  const turn = turns.command(once.userId);
  const begun = await commands.beginCommand(once, turn);
  if (begun.code !== null || begun.replayed) {
    noteReplay(response, begun.replayed);
    return acceptedBody(begun);
  }
  const body = await cancelOrders(context, once.userId, orderIds, once);
  outboxRelay.ring();
  const text = JSON.stringify(body);
  // An id that failed by the server's fault is tried again by a repetition.
  const isFinal = body.balance !== null && body.failures.every(({ code }) => code !== "internal");
  if (!isFinal) return text;
  const ended = await commands.endCommand({ ...once, reply: text }, turn);
  noteReplay(response, ended.replayed);
  return acceptedBody(ended);
}

type CancelBatchResponse = z.output<typeof cancelBatchResponseSchema>;

/**
 * Cancels orders of a user one after the other, each in a transaction of its own: a failure does not
 * affect the others.
 */
export async function cancelOrders(
  { commands, turns, logger }: Pick<Context, "commands" | "turns" | "logger">,
  userId: string,
  orderIds: string[],
  idempotency?: Idempotency,
): Promise<CancelBatchResponse> {
  const cancelled: CancelBatchResponse["cancelled"] = [];
  const failures: CancelBatchResponse["failures"] = [];
  const turn = turns.command(userId);
  let isDatabaseGone = false;

  for (const orderId of new Set(orderIds)) {
    if (isDatabaseGone) {
      failures.push({ orderId, code: "internal" });
      continue;
    }
    try {
      // Of a batch with a key, each cancel has a key of its own.
      const once = idempotency && {
        ...idempotency,
        idempotencyKey: keyOfPart(idempotency.idempotencyKey, orderId),
      };
      const command = { command: "cancel" as const, userId, orderId, ...once };
      const result = await commands.runCommand(command, turn);
      if (result.code === null) cancelled.push(orderIn(result.body));
      else failures.push({ orderId, code: failureCodeOf(result.code) });
    } catch (error) {
      logger.warn({ error, orderId }, "an order of a batch was not cancelled");
      failures.push({ orderId, code: "internal" });
      // Each further id would wait for the database as long as this one.
      isDatabaseGone = error instanceof DatabaseFailure && error.kind !== "conflict";
    }
  }

  const balance = isDatabaseGone ? null : await balanceAfter({ commands, logger }, userId);
  return { cancelled, failures, balance };
}

function orderIn(body: string): CancelBatchResponse["cancelled"][number] {
  return (JSON.parse(body) as { order: CancelBatchResponse["cancelled"][number] }).order;
}

function failureCodeOf(code: string): z.output<typeof failureCodeSchema> {
  if (code === "ORDER_NOT_FOUND") return "not_found";
  return code === "ORDER_NOT_CANCELLABLE" ? "not_cancellable" : "internal";
}

/** The user's balance after a batch. Null when it can't be read. */
async function balanceAfter(
  { commands, logger }: Pick<Context, "commands" | "logger">,
  userId: string,
): Promise<z.output<typeof balanceSchema> | null> {
  try {
    const account = await commands.getAccount({ userId });
    const { balance } = JSON.parse(account) as { balance: number };
    return { total: balance, available: balance };
  } catch (error) {
    logger.warn({ error }, "the balance after a batch could not be read");
    return null;
  }
}

export const orderBatchRoutes = [placeBatch, cancelBatch];
