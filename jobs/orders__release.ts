import type { Job } from "../src/worker/job.ts";

/** The job waits for a release that is nearer than this. A new job would start later. */
const NEAR_MS = 250;
/** Orders that are scheduled later may be due earlier than those that were read. */
const LOOK_AGAIN_MS = 20;
/** After this long another worker may take over. */
const LONGEST_MS = 60_000;

/** Releases scheduled orders that are due now or in a moment. */
export const releaseOrders: Job["run"] = ({ doWhatIsDue, nextWork }) =>
  doWhatIsDue({
    listDue: (calls, passingOver) => calls.dueReleaseGroups({ passingOver }),
    doInMarket: "releaseOrders",
    doInGroup: async (calls, marketIds) => {
      const { released, busy } = await calls.releaseGroup({ marketIds }, { attempts: 1 });
      return { done: released, busy };
    },
    lanes: 4,
    waitingLanes: 2,
    longestMs: LONGEST_MS,
    waitMs: async () => {
      const { releaseInMs } = await nextWork();
      if (releaseInMs === null || releaseInMs > NEAR_MS) return undefined;
      return Math.min(Math.max(1, Math.ceil(releaseInMs)), LOOK_AGAIN_MS);
    },
  });
