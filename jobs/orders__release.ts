import { setTimeout as delay } from "node:timers/promises";
import { dueReleases, nextDue, releaseOrders } from "../src/database/jobs.ts";
import type { Job, JobContext } from "../src/worker/job.ts";

/** Markets at once: a release waits for its flush to disk, and those of several go together. */
const LANES = 8;
/** When the next release is nearer than this, waiting for it here saves being rung for. */
const NEAR_MS = 250;
/** What is scheduled meanwhile may be due earlier than what was seen. */
const LOOK_AGAIN_MS = 20;
/** After this long somebody else may go on, however near the next release is. */
const LONGEST_MS = 60_000;

/** Releases scheduled orders that are due, and those that will be in a moment. */
export const ordersRelease: Job = {
  name: "orders__release",
  run: async (context) => {
    const end = performance.now() + LONGEST_MS;
    const faults = new Map<number, unknown>();
    while (!context.isEnding() && performance.now() < end) {
      const due = await context.call(dueReleases);
      const markets = due.filter((market) => !faults.has(market));
      if (markets.length > 0) {
        await releaseAll(context, markets, faults);
      } else {
        // A market at fault stays due, and must not keep the others waiting.
        if (faults.size > 0) throw [...faults.values()][0];
        const { release } = await context.call(nextDue);
        if (release === null || release > NEAR_MS) return;
        await delay(Math.min(Math.max(1, Math.ceil(release)), LOOK_AGAIN_MS));
      }
    }
  },
};

async function releaseAll(
  { doPiece }: JobContext,
  markets: number[],
  faults: Map<number, unknown>,
): Promise<void> {
  const waiting = markets.values();
  const lane = async (): Promise<void> => {
    for (const market of waiting) {
      try {
        await doPiece((client) => releaseOrders(client, market));
      } catch (error) {
        faults.set(market, error);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}
