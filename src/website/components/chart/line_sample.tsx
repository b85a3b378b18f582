import type { JSX } from "preact";

/** A piece of a chart's line, for the list that says what each line is. */
export function LineSample({ line }: { line: number }): JSX.Element {
  return (
    <svg width="36" height="12" aria-hidden="true">
      <path class={`chart-line line-${line}`} d="M0 6H36" />
    </svg>
  );
}
