import { waitIfNear } from "../src/worker/job.ts";
import type { Job } from "../src/worker/job.ts";

interface DueOrders {
  marketId: number;
  orderIds: readonly number[];
}

/** After this long another worker may take over. */
const LONGEST_MS = 60_000;
/** What one transaction cancels at most. */
const MOST_MARKETS = 32;
const MOST_ORDERS = 200;

/** Cancels stopped orders, such as those of users whose dead man's switch has expired. */
export const fireDeadManSwitches: Job["run"] = ({ doWhatIsDue, nextWork }) => {
  let orderIds = new Map<number, readonly number[]>();
  const ordersIn = (markets: readonly number[]): number[] =>
    markets.flatMap((market) => orderIds.get(market) ?? []);

  return doWhatIsDue({
    listDue: async (calls, passingOver) => {
      const due = await calls.dueDeadManOrders({ passingOver });
      orderIds = new Map(due.map((each) => [each.marketId, each.orderIds]));
      return groupsOf(due);
    },
    doInMarket: async (calls, market, waits, options) => {
      const marketIds = [market];
      const call = { marketIds, orderIds: ordersIn(marketIds), waits };
      const { cancelled, busy } = await calls.cancelDeadManOrders(call, options);
      return busy.length > 0 ? null : cancelled;
    },
    doInGroup: async (calls, marketIds) => {
      const call = { marketIds, orderIds: ordersIn(marketIds), waits: false };
      const { cancelled, busy } = await calls.cancelDeadManOrders(call, { attempts: 1 });
      return { done: cancelled, busy };
    },
    lanes: 4,
    waitingLanes: 2,
    longestMs: LONGEST_MS,
    waitMs: async () => waitIfNear((await nextWork()).deadManInMs),
  });
};

/** Markets that are done in one transaction, in ascending id. */
function groupsOf(due: DueOrders[]): number[][] {
  const groups: number[][] = [];
  let group: number[] = [];
  let count = 0;
  for (const { marketId, orderIds } of due) {
    if (group.length === MOST_MARKETS || count + orderIds.length > MOST_ORDERS) {
      if (group.length > 0) groups.push(group);
      group = [];
      count = 0;
    }
    group.push(marketId);
    count += orderIds.length;
  }
  if (group.length > 0) groups.push(group);
  return groups.map((markets) => markets.toSorted((one, other) => one - other));
}
