import type { OrderRequest } from "../database/calls.ts";
import { DatabaseFailure } from "../database/failures.ts";
import { createTally } from "../tally.ts";

/** Orders that are not answered. */
export interface OrderCounts {
  /** Resolves once there is none. */
  none: () => Promise<void>;
  /** Counts these orders during work on them. Fails at once if there are too many. */
  during: <T>(orders: OrderRequest[], work: () => Promise<T>) => Promise<T>;
}

/** So many orders at most are not answered, a quarter of one user. */
export function createOrderCounts(most: number): OrderCounts {
  const counts = createTally();
  let all = 0;
  const onNone: (() => void)[] = [];

  function change(orders: OrderRequest[], by: 1 | -1): void {
    all += by * orders.length;
    for (const { userId } of orders) counts.add(userId, by);
    if (all > 0) return;
    for (const resolve of onNone.splice(0)) resolve();
  }

  return {
    none: async () => {
      if (all > 0) await new Promise<void>((resolve) => onNone.push(resolve));
    },
    during: async (orders, work) => {
      const isFull = ({ userId }: OrderRequest) => counts.of(userId) >= most / 4;
      if (all >= most || orders.some(isFull)) throw new DatabaseFailure("overloaded");
      change(orders, 1);
      try {
        return await work();
      } finally {
        change(orders, -1);
      }
    },
  };
}
