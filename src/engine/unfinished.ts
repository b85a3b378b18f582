import { REQUEST_PATIENCE_MS } from "../database/call_limiter.ts";
import type { CommandResult } from "../database/calls.ts";

type Coded = Pick<CommandResult, "code">;

/**
 * Makes a command, or a call of several, again until all is finished, or its time is over. One call
 * cancels a bounded number of makers that fail revalidation: a command that meets more of them only
 * cancels these and returns CONFLICT_RETRY.
 */
export async function untilFinished<Result extends Coded | Coded[]>(
  command: () => Promise<Result>,
  { forMs = REQUEST_PATIENCE_MS, now = () => performance.now() } = {},
): Promise<Result> {
  const since = now();
  for (;;) {
    const result = await command();
    const results: Coded[] = [result].flat();
    const isUnfinished = results.some(({ code }) => code === "CONFLICT_RETRY");
    if (!isUnfinished || now() - since >= forMs) return result;
  }
}
