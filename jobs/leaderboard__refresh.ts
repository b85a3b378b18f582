import { refreshLeaderboard } from "../src/database/jobs.ts";
import type { Job } from "../src/worker/job.ts";

/** Brings the leaderboard up to date. */
export const leaderboardRefresh: Job = {
  name: "leaderboard__refresh",
  run: ({ untilNothingIsLeft }) => untilNothingIsLeft(refreshLeaderboard),
};
