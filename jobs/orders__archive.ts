import { archiveOrders } from "../src/database/jobs.ts";
import type { Job } from "../src/worker/job.ts";

/** Moves orders that were cancelled 30 days ago without a fill to the archive. */
export const ordersArchive: Job = {
  name: "orders__archive",
  run: ({ untilNothingIsLeft }) => untilNothingIsLeft(archiveOrders),
};
