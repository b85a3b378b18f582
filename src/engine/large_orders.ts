import { createOrderCounts } from "./order_counts.ts";

/** How many large orders each user has at work, over all markets. */
export interface LargeOrders<Lane extends object> {
  /** Whether the user has as many at work as allowed. */
  isFull: (userId: string) => boolean;
  /** A large order of the user is at work in this lane. */
  begin: (lane: Lane, userId: string) => void;
  /** The lane's call is over; whether a large order was in it. */
  end: (lane: Lane) => boolean;
}

export function createLargeOrders<Lane extends object>(most: number): LargeOrders<Lane> {
  const counts = createOrderCounts();
  const users = new Map<Lane, string[]>();
  return {
    isFull: (userId) => counts.of(userId) >= most,
    begin: (lane, userId) => {
      counts.add(userId);
      users.set(lane, [...(users.get(lane) ?? []), userId]);
    },
    end: (lane) => {
      for (const userId of users.get(lane) ?? []) counts.subtract(userId);
      return users.delete(lane);
    },
  };
}
