import { DatabaseFailure } from "../database/failures.ts";
import type { Lanes } from "./lanes.ts";
import { createOrderCounts } from "./order_counts.ts";

/** The orders of a process that wait: those of lanes, and those of batches in calls of their own. */
export interface WaitingOrders {
  count: () => number;
  /** Throws if one of these users may have no further order waiting. */
  checkRoom: (userIds: string[]) => void;
  /** Counts the orders of a batch, with their users, until its call is over. */
  during: <Result>(userIds: string[], placing: Promise<Result>) => Promise<Result>;
}

/** Any user has at most a quarter of the room. */
export function createWaitingOrders<Result>(
  lanes: Pick<Lanes<Result>, "count" | "countOf">,
  cap: number,
): WaitingOrders {
  const apart = createOrderCounts();
  const count = () => lanes.count() + apart.all();
  const isFullFor = (userId: string) => lanes.countOf(userId) + apart.of(userId) >= cap / 4;
  return {
    count,
    checkRoom: (userIds) => {
      if (count() >= cap || userIds.some(isFullFor)) throw new DatabaseFailure("overloaded");
    },
    during: async (userIds, placing) => {
      userIds.forEach(apart.add);
      try {
        return await placing;
      } finally {
        userIds.forEach(apart.subtract);
      }
    },
  };
}
