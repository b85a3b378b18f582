import { randomUUID } from "node:crypto";
import { keyOfPart } from "../../../src/api/idempotency.ts";
import { call } from "../../../src/database/call.ts";
import { ALL_ORDERS, api } from "../../../src/database/calls.ts";
import type { CancelledOrders, Command, OrderTerms } from "../../../src/database/calls.ts";
import { withClient } from "../database/test_database.ts";
import { switchWorker } from "./dead_man_switches.ts";
import type { Contention } from "./contention.ts";
import type { Exchange } from "./test_exchange.ts";

/** Commands with an idempotency key, as servers send them, and what a worker does. */

export interface Once {
  idempotencyKey: string;
  requestFingerprint: string;
}

export const newKey = (): Once => ({
  idempotencyKey: randomUUID(),
  requestFingerprint: randomUUID(),
});

/** The body is JSON text; null if the command was rejected. */
export interface Done {
  code: string | null;
  replayed: boolean;
  body: string | null;
}

interface Given {
  orderId?: string;
  marketId?: string;
  price?: number;
  quantity?: number;
}

/** Each of them is repeated as a server would repeat it. */
export function keyedCommands(
  exchange: Pick<Exchange, "api" | "database">,
  { insist }: Pick<Contention, "insist">,
) {
  const run = (command: Command, userId: string, given: Given, once: Once): Promise<Done> =>
    insist(() =>
      withClient(exchange.api, (client) =>
        call(client, api.runCommand, { command, userId, ...given, ...once }),
      ),
    );

  const placeBatch = (
    userId: string,
    terms: (Omit<OrderTerms, "userId"> & { marketId: string })[],
    once: Once,
    atomic = false,
  ): Promise<Done> => {
    const orders = terms.map((order) => ({ ...order, userId }));
    const batch = { ...ALL_ORDERS, userId, orders, atomic, ...once };
    return insist(
      async () =>
        (await withClient(exchange.api, (client) => call(client, api.runOrders, batch)))[0]!,
    );
  };

  /** All calls of a cancel of all orders. */
  const cancelAll = async (
    userId: string,
    once: Partial<Once> = {},
    marketId: string | null = null,
  ): Promise<Done> => {
    let result: CancelledOrders | undefined;
    do {
      const untilOrderId = result?.lastOrderId ?? null;
      const cancelledBefore = result?.cancelled ?? 0;
      result = await insist(() =>
        withClient(exchange.api, (client) =>
          call(client, api.cancelAllOrders, {
            ...{ userId, marketId, untilOrderId, cancelledBefore, ...once },
          }),
        ),
      );
    } while (result.code === null && result.body === null);
    return result;
  };

  /** Cancels each order with a key of its own, and keeps the ids of those that it cancelled. */
  const cancelBatch = async (userId: string, orderIds: string[], once: Once): Promise<Done> => {
    const key = { userId, ...once };
    const begun = await insist(() =>
      withClient(exchange.api, (client) => call(client, api.beginCommand, key)),
    );
    if (begun.code !== null || begun.replayed) return begun;
    const cancelled: string[] = [];
    for (const orderId of orderIds) {
      const { idempotencyKey, requestFingerprint } = once;
      const part = { idempotencyKey: keyOfPart(idempotencyKey, orderId), requestFingerprint };
      const { code } = await run("cancel", userId, { orderId }, part);
      if (code === null) cancelled.push(orderId);
    }
    const reply = JSON.stringify(cancelled);
    return insist(() =>
      withClient(exchange.api, (client) => call(client, api.endCommand, { ...key, reply })),
    );
  };

  const setDeadMan = (
    userId: string,
    timeoutMs: number,
    once: Partial<Once> = {},
  ): Promise<Done & { firedAt: string | null }> =>
    insist(() =>
      withClient(exchange.api, (client) =>
        call(client, api.setDeadMan, { userId, timeoutMs, ...once }),
      ),
    );

  const { fire } = switchWorker(exchange, insist);

  return { run, placeBatch, cancelAll, cancelBatch, setDeadMan, fire };
}
