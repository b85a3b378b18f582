import { removeCounters } from "../src/database/jobs.ts";
import type { Job } from "../src/worker/job.ts";

/** Removes counters of requests that count nothing any more. */
export const countersRemove: Job = {
  name: "counters__remove",
  run: ({ untilNothingIsLeft }) => untilNothingIsLeft(removeCounters),
};
