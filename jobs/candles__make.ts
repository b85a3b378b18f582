import type { Job } from "../src/worker/job.ts";

/** What one call makes at most, by default. */
const MOST_TRADES = 10_000;

/** Makes the candles of what has been traded when it begins: it ends also while all markets trade. */
export const makeCandles: Job["run"] = async ({ calls, isEnding }) => {
  for (const marketIds of await calls.dueCandles({})) {
    let made = MOST_TRADES;
    while (made >= MOST_TRADES && !isEnding()) made = await calls.makeCandles({ marketIds });
  }
};
