/** What decides when something happens. Tests bring their own. */
export interface Timing {
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
  /** Rejects with the signal's reason when it is aborted. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 up to but not including 1. */
  random: () => number;
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;

/** Of this machine. */
export const realTiming: Timing = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, ms);
      signal?.addEventListener("abort", stop, { once: true });
    }),
  random: Math.random,
};

/**
 * How long to wait after so many failures before this one: twice as long each time, and never at
 * the same moment as all the others. At least as long as the server asks for.
 */
export function backoffMs(
  failures: number,
  retryAfter: number | undefined,
  random: () => number,
): number {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
  const jittered = longest / 2 + (random() * longest) / 2;
  return retryAfter === undefined ? jittered : retryAfter * 1000 + jittered / 2;
}
