import { dueExpiries, expireOrders } from "../src/database/jobs.ts";
import type { Job } from "../src/worker/job.ts";

/** Cancels resting orders that are past their expiry. */
export const ordersExpire: Job = {
  name: "orders__expire",
  run: ({ doWhatIsDue }) =>
    doWhatIsDue({ listDue: dueExpiries, doInMarket: expireOrders, lanes: 2, waitingLanes: 1 }),
};
