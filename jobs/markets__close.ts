import { closeMarkets, dueClosings } from "../src/database/jobs.ts";
import type { Job } from "../src/worker/job.ts";

/** Closes markets that are past their close time. */
export const marketsClose: Job = {
  name: "markets__close",
  run: ({ doWhatIsDue }) =>
    doWhatIsDue({ listDue: dueClosings, doInMarket: closeMarkets, lanes: 2, waitingLanes: 1 }),
};
