import { useEffect } from "preact/hooks";
import { retryDelayMs } from "../api/result.ts";
import type { Problem } from "../api/result.ts";

/** Tries again by itself after a problem that passes. */
export function useRetry(problem: Problem | undefined, tryAgain: () => void): void {
  useEffect(() => {
    const delayMs = problem && retryDelayMs(problem);
    if (delayMs === undefined) return undefined;
    const timer = setTimeout(tryAgain, delayMs);
    return () => {
      clearTimeout(timer);
    };
  }, [problem]);
}
