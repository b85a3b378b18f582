import { setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../has_code.ts";

const TRIES = 60;
const PAUSE_MS = 1000;

/** Lock timeout, deadlock. Such an attempt has changed nothing, and kept traders waiting for a moment. */
const missedLock = ["55P03", "40P01"];

/**
 * Makes attempts at something that needs locks beside the traders, up to 60 times, until it gets
 * them. Throws the last error.
 */
export async function untilLocked<T>(
  what: string,
  log: (message: string) => void,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let triesLeft = TRIES - 1; ; triesLeft -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (triesLeft === 0 || !hasCode(error, ...missedLock)) throw error;
      log(`the ${what} missed a lock (${(error as Error).message}), and is run again`);
      await delay(PAUSE_MS);
    }
  }
}
