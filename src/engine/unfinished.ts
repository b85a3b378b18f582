import type { Outcome } from "../database/calls.ts";

/**
 * One call cancels a bounded number of makers that fail revalidation. A command that met more of
 * them has done nothing but that, says CONFLICT_RETRY, and is made again: for so long.
 */
export const UNFINISHED_FOR_MS = 5000;

/** Whether a command is to be made again, which was first made at this moment of the clock. */
export function isUnfinished(
  { code }: Outcome,
  since: number,
  forMs = UNFINISHED_FOR_MS,
  now = performance.now(),
): boolean {
  return code === "CONFLICT_RETRY" && now - since < forMs;
}

/** Makes a command until it is finished, or the time for that is over. */
export async function untilFinished(command: () => Promise<Outcome>): Promise<Outcome> {
  const since = performance.now();
  for (;;) {
    const outcome = await command();
    if (!isUnfinished(outcome, since)) return outcome;
  }
}
