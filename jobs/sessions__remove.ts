import { removeSessions } from "../src/database/jobs.ts";
import type { Job } from "../src/worker/job.ts";

/** Removes sessions of the website that have expired. */
export const sessionsRemove: Job = {
  name: "sessions__remove",
  run: ({ untilNothingIsLeft }) => untilNothingIsLeft(removeSessions),
};
