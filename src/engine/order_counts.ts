/** How many orders there are, and how many of each user. */
export interface OrderCounts {
  all: () => number;
  of: (userId: string) => number;
  add: (userId: string) => void;
  subtract: (userId: string) => void;
}

export function createOrderCounts(): OrderCounts {
  const counts = new Map<string, number>();
  let all = 0;
  const of = (userId: string) => counts.get(userId) ?? 0;
  return {
    all: () => all,
    of,
    add: (userId) => {
      all++;
      counts.set(userId, of(userId) + 1);
    },
    subtract: (userId) => {
      all--;
      const left = of(userId) - 1;
      if (left > 0) counts.set(userId, left);
      else counts.delete(userId);
    },
  };
}
