import { expireOrders } from "../src/database/jobs.ts";
import type { Job } from "../src/worker/job.ts";

/** Cancels resting orders that are past their expiry. */
export const ordersExpire: Job = {
  name: "orders__expire",
  run: ({ untilNothingIsLeft }) => untilNothingIsLeft(expireOrders),
};
