import type { OrderRequest, Outcome } from "../database/calls.ts";
import { plainProblem, ProblemError, refusal, refusalByName } from "../errors.ts";
import type { Problem } from "../errors.ts";
import { problemOfCommand } from "../http/error_handler.ts";
import type { Services } from "../services.ts";

/** What POST /orders would have answered. The body is JSON text. */
interface Result {
  status: number;
  body: string;
}

const ROUTE = "/api/v1/orders";

/**
 * Places orders of which each stands alone. What can't be placed comes as its problem. Gives the
 * results as JSON text, in the order of the orders.
 */
export async function placeEach(
  { logger, orderGatherer }: Pick<Services, "logger" | "orderGatherer">,
  orders: (OrderRequest | Problem)[],
): Promise<string> {
  const results = await Promise.all(
    orders.map(async (order): Promise<Result> => {
      if ("status" in order) return resultOf(order);
      try {
        return resultOfOutcome(await orderGatherer.place(order));
      } catch (error) {
        const problem = problemOfCommand(error, "POST", ROUTE);
        logger[problem === undefined ? "error" : "warn"]({ error }, "an order was not placed");
        return resultOf(problem ?? plainProblem(500, "Internal server error"));
      }
    }),
  );
  return textOf(results);
}

/**
 * Places all of the orders, or none: then it throws the problem, with the place and the result of
 * the first order that was rejected. Gives the results as JSON text.
 */
export async function placeAll(
  { orderGatherer }: Pick<Services, "orderGatherer">,
  orders: OrderRequest[],
): Promise<string> {
  const outcomes = await orderGatherer.placeTogether(orders);
  const index = outcomes.findIndex(({ code }) => code !== null);
  const rejected = outcomes[index];
  if (rejected === undefined) return textOf(outcomes.map(resultOfOutcome));
  const problem = refusalByName(rejected.code ?? "", rejected.message);
  // These two are about the request and not about that order.
  const isAboutAtomic = problem.body.issues?.[0]?.path === "atomic";
  if (isAboutAtomic || problem.code === "CONFLICT_RETRY") throw new ProblemError(problem);
  const { status, body, ...more } = refusal("BATCH_REJECTED");
  const result = { status: problem.status, body: problem.body };
  throw new ProblemError({ status, body: { ...body, index, result }, ...more });
}

function resultOfOutcome({ body, code, message, replayed }: Outcome): Result {
  return code === null
    ? { status: replayed ? 200 : 201, body }
    : resultOf(refusalByName(code, message));
}

function resultOf({ status, body }: Problem): Result {
  return { status, body: JSON.stringify(body) };
}

function textOf(results: Result[]): string {
  return `[${results.map(({ status, body }) => `{"status":${status},"body":${body}}`).join()}]`;
}
