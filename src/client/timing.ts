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
/** A timer that is set for longer goes off at once. */
const MOST_MS = 2 ** 31 - 1;

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
  return retryAfter === undefined ? jittered : Math.min(MOST_MS, retryAfter * 1000 + jittered / 2);
}

/** A time limit that a timer can keep. Throws a RangeError for any other. */
export function checkedLimit(name: string, ms: number): number {
  if (ms > 0 && ms <= MOST_MS) return ms;
  throw new RangeError(`${name} must be more than 0 and at most ${MOST_MS}, and not ${ms}`);
}

/** How long to go on, which may be Infinity. Throws a RangeError for what is no such time. */
export function checkedPatience(ms: number): number {
  if (ms >= 0) return ms;
  throw new RangeError(`patienceMs must be 0 or more, and not ${ms}`);
}
