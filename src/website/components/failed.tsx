import type { JSX } from "preact";
import { adviceOn } from "../api/advice.ts";
import { retryDelayMs } from "../api/result.ts";
import type { Problem } from "../api/result.ts";

interface FailedProps {
  problem: Problem;
  onRetry: () => void;
}

/** In the place of what could not be loaded: why, and a button to try it again. */
export function Failed({ problem, onRetry }: FailedProps): JSX.Element {
  return (
    <div class="empty" role="alert">
      <p class="empty-title">This could not be loaded</p>
      <p class="muted">
        {adviceOn(problem).text}
        {retryDelayMs(problem) !== undefined && " This page then tries by itself."}
      </p>
      <button type="button" class="button" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}
