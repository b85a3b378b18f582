import { setTimeout as delay } from "node:timers/promises";
import { call } from "../database/call.ts";
import { REQUEST_PATIENCE_MS } from "../database/call_limiter.ts";
import { api } from "../database/calls.ts";
import type { Payment } from "../database/calls.ts";
import { DatabaseFailure, lockPauseMs } from "../database/failures.ts";
import { gatherCalls } from "../database/gathered_calls.ts";
import type { GatherOptions } from "../database/gathered_calls.ts";

interface Spending {
  userId: string;
  count: number;
}

/** Takes tokens for trading requests out of the buckets of their users, or finds that none is left. */
export interface TradingTokens {
  /**
   * For a request, or for several of one user at once. It waits so long, if not given as long as any
   * request, for a bucket that another process has locked.
   */
  take: (userId: string, count: number, patienceMs?: number) => Promise<Payment>;
  /**
   * Makes a call that takes tokens of these users itself. It has their buckets locked, so their other
   * requests wait until it is over.
   */
  during: <T>(userIds: string[], call: () => Promise<T>) => Promise<T>;
}

const noResult = (): void => undefined;

/** The buckets are in the database, which all processes share. Requests at the same time share a call. */
export function createTradingTokens(
  options: Omit<GatherOptions<Spending, Payment>, "ask">,
): TradingTokens {
  const spend = gatherCalls<Spending, Payment>({
    ...options,
    ask: (client, spendings) =>
      call(client, api.spendTokens, {
        userIds: spendings.map(({ userId }) => userId),
        counts: spendings.map(({ count }) => count),
      }),
  });
  const underWay = new Map<string, Promise<void>>();

  return {
    take: async (userId, count, patienceMs = REQUEST_PATIENCE_MS) => {
      const until = performance.now() + patienceMs;
      for (let tries = 1; ; tries++) {
        await underWay.get(userId);
        const payment = await spend({ userId, count });
        if (payment.allowed !== null) return payment;
        if (performance.now() > until) throw new DatabaseFailure("conflict");
        await delay(lockPauseMs(tries));
      }
    },
    during: async (userIds, call) => {
      const made = call();
      const over = made.then(noResult, noResult);
      for (const userId of userIds) underWay.set(userId, over);
      try {
        return await made;
      } finally {
        for (const userId of userIds) underWay.delete(userId);
      }
    },
  };
}
