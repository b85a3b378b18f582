/** How many orders wait, and how many of each user. */
export interface OrderCounts {
  all: () => number;
  of: (userId: string) => number;
  /** One order of each of these users comes or goes. */
  change: (userIds: string[], by: 1 | -1) => void;
}

export function createOrderCounts(): OrderCounts {
  const counts = new Map<string, number>();
  let all = 0;
  const of = (userId: string) => counts.get(userId) ?? 0;
  return {
    all: () => all,
    of,
    change: (userIds, by) => {
      all += by * userIds.length;
      for (const userId of userIds) {
        const count = of(userId) + by;
        if (count > 0) counts.set(userId, count);
        else counts.delete(userId);
      }
    },
  };
}
