import { waitIfNear } from "../src/worker/job.ts";
import type { Job } from "../src/worker/job.ts";

/** After this long another worker may take over. */
const LONGEST_MS = 60_000;

/** Releases scheduled orders that are due now or in a moment. */
export const releaseOrders: Job["run"] = ({ doWhatIsDue, nextWork }) =>
  doWhatIsDue({
    listDue: (calls, passingOver) => calls.dueReleaseGroups({ passingOver }),
    doInMarket: (calls, marketId, waits, options) =>
      calls.releaseOrders({ marketId, waits }, options),
    doInGroup: async (calls, marketIds) => {
      const { released, busy } = await calls.releaseGroup({ marketIds }, { attempts: 1 });
      return { done: released, busy };
    },
    lanes: 4,
    waitingLanes: 2,
    longestMs: LONGEST_MS,
    waitMs: async () => waitIfNear((await nextWork()).releaseInMs),
  });
