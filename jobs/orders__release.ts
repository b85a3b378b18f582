import type { Job } from "../src/worker/job.ts";

/** When the next release is nearer than this, the job waits for it: the queue would take longer. */
const NEAR_MS = 250;
/** What is scheduled meanwhile may be due earlier than what was seen. */
const LOOK_AGAIN_MS = 20;
/** After this long another worker may take over, however near the next release is. */
const LONGEST_MS = 60_000;

/** Releases scheduled orders that are due, and those that will be in a moment. */
export const releaseOrders: Job["run"] = ({ doWhatIsDue, nextDue }) =>
  doWhatIsDue({
    listDue: (calls, passingOver) => calls.dueReleaseGroups({ passingOver }),
    doInMarket: "releaseOrders",
    doInGroup: async (calls, marketIds) => {
      const { released, busy } = await calls.releaseGroup({ marketIds });
      return { done: released, busy };
    },
    lanes: 4,
    waitingLanes: 2,
    longestMs: LONGEST_MS,
    waitMs: async () => {
      const { releaseInMs } = await nextDue();
      if (releaseInMs === null || releaseInMs > NEAR_MS) return undefined;
      return Math.min(Math.max(1, Math.ceil(releaseInMs)), LOOK_AGAIN_MS);
    },
  });
