import { removeKeys } from "../src/database/jobs.ts";
import type { Job } from "../src/worker/job.ts";

/** Removes idempotency keys that are older than 24 hours. */
export const keysRemove: Job = {
  name: "keys__remove",
  run: ({ untilNothingIsLeft }) => untilNothingIsLeft(removeKeys),
};
