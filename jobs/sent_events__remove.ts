import { removeSentEvents } from "../src/database/jobs.ts";
import type { Job } from "../src/worker/job.ts";

/** Removes events that were sent more than five minutes ago. */
export const sentEventsRemove: Job = {
  name: "sent_events__remove",
  run: ({ untilNothingIsLeft }) => untilNothingIsLeft(removeSentEvents),
};
