import { removeEventPayloads } from "../src/database/jobs.ts";
import type { Job } from "../src/worker/job.ts";

/** Removes payloads of long announcements that are older than an hour. */
export const eventPayloadsRemove: Job = {
  name: "event_payloads__remove",
  run: ({ untilNothingIsLeft }) => untilNothingIsLeft(removeEventPayloads),
};
