import { dueReleases, releaseOrders } from "../src/database/jobs.ts";
import type { Job } from "../src/worker/job.ts";

/** When the next release is nearer than this, waiting for it here saves being rung for. */
const NEAR_MS = 250;
/** What is scheduled meanwhile may be due earlier than what was seen. */
const LOOK_AGAIN_MS = 20;
/** After this long somebody else may go on, however near the next release is. */
const LONGEST_MS = 60_000;

/** Releases scheduled orders that are due, and those that will be in a moment. */
export const ordersRelease: Job = {
  name: "orders__release",
  run: ({ doWhatIsDue, nextDue }) =>
    doWhatIsDue({
      listDue: dueReleases,
      doInMarket: releaseOrders,
      lanes: 8,
      waitingLanes: 2,
      longestMs: LONGEST_MS,
      waitMs: async () => {
        const { release } = await nextDue();
        if (release === null || release > NEAR_MS) return undefined;
        return Math.min(Math.max(1, Math.ceil(release)), LOOK_AGAIN_MS);
      },
    }),
};
