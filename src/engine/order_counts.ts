import { DatabaseFailure } from "../database/failures.ts";
import { createTally } from "../tally.ts";

/** Orders that are not answered. */
export interface OrderCounts {
  /** Resolves once there is none. */
  none: () => Promise<void>;
  /** Counts orders of these users during work on them. Fails at once if there are too many. */
  during: <T>(userIds: string[], work: () => Promise<T>) => Promise<T>;
}

/** So many orders at most are not answered, a quarter of one user. */
export function createOrderCounts(most: number): OrderCounts {
  const counts = createTally();
  let all = 0;
  const onNone: (() => void)[] = [];

  function change(userIds: string[], by: 1 | -1): void {
    all += by * userIds.length;
    for (const userId of userIds) counts.add(userId, by);
    if (all > 0) return;
    for (const resolve of onNone.splice(0)) resolve();
  }

  return {
    none: async () => {
      if (all > 0) await new Promise<void>((resolve) => onNone.push(resolve));
    },
    during: async (userIds, work) => {
      const isFullFor = (userId: string) => counts.of(userId) >= most / 4;
      if (all >= most || userIds.some(isFullFor)) throw new DatabaseFailure("overloaded");
      change(userIds, 1);
      try {
        return await work();
      } finally {
        change(userIds, -1);
      }
    },
  };
}
