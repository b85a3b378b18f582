import type { CommandResult } from "../database/calls.ts";

/**
 * One call cancels a bounded number of makers that fail revalidation. A command that meets more of
 * them only cancels these, returns CONFLICT_RETRY, and is made again for this long.
 */
export const UNFINISHED_FOR_MS = 5000;

/** Whether a command that was first made at `since` is to be made again. */
export function isUnfinished(
  { code }: Pick<CommandResult, "code">,
  since: number,
  forMs = UNFINISHED_FOR_MS,
  now = performance.now(),
): boolean {
  return code === "CONFLICT_RETRY" && now - since < forMs;
}

type Coded = Pick<CommandResult, "code">;

/** Makes a command, or a call of several, again until all is finished, or its time is over. */
export async function untilFinished<Result extends Coded | Coded[]>(
  command: () => Promise<Result>,
  { forMs = UNFINISHED_FOR_MS, now = () => performance.now() } = {},
): Promise<Result> {
  const since = now();
  for (;;) {
    const result = await command();
    const results: Coded[] = [result].flat();
    if (!results.some((each) => isUnfinished(each, since, forMs, now()))) return result;
  }
}
