import type { Outcome } from "../database/calls.ts";
import { DatabaseFailure } from "../database/failures.ts";
import type { Services } from "../services.ts";
import { balanceOf } from "./balance_of.ts";

type FailureCode = "not_found" | "not_cancellable" | "internal";

/**
 * Cancels a user's orders one after another, each in a transaction of its own: one that fails
 * leaves the others alone. Gives the body of POST /orders/cancel-batch as JSON text.
 */
export async function cancelOrders(
  { commands, logger }: Pick<Services, "commands" | "logger">,
  userId: string,
  orderIds: string[],
): Promise<string> {
  const cancelled: string[] = [];
  const failures: { orderId: string; code: FailureCode }[] = [];
  let isDatabaseGone = false;

  for (const orderId of new Set(orderIds)) {
    if (isDatabaseGone) {
      failures.push({ orderId, code: "internal" });
      continue;
    }
    try {
      const outcome = await commands.cancelOrder({ userId, orderId });
      if (outcome.code === null) cancelled.push(orderOf(outcome));
      else failures.push({ orderId, code: failureCode(outcome.code) });
    } catch (error) {
      logger.warn({ error, orderId }, "an order of a batch was not cancelled");
      failures.push({ orderId, code: "internal" });
      // Each further id would wait as long as this one for the database to come back.
      isDatabaseGone = error instanceof DatabaseFailure && error.kind !== "conflict";
    }
  }

  const balance = isDatabaseGone ? "null" : await balanceOf({ commands, logger }, userId);
  return (
    `{"cancelled":[${cancelled.join()}],"failures":${JSON.stringify(failures)},` +
    `"balance":${balance}}`
  );
}

function orderOf(outcome: Outcome): string {
  const { order } = JSON.parse(outcome.body) as { order: unknown };
  return JSON.stringify(order);
}

function failureCode(code: string): FailureCode {
  if (code === "ORDER_NOT_FOUND") return "not_found";
  return code === "ORDER_NOT_CANCELLABLE" ? "not_cancellable" : "internal";
}
