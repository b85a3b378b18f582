/**
 * How many milliseconds the clock of this process is ahead of another one, at least; below 0 if it is
 * behind. The other one was read at some moment between two readings of our own.
 */
export function clockOffsetMs(before: number, other: number, after: number): number {
  return Math.max(0, before - other) + Math.min(0, after - other);
}
