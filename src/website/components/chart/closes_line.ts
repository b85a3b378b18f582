import type { Axis, TimedPrice } from "./price_line.ts";

interface Steps {
  /** When the first step begins. */
  from: number;
  stepMs: number;
  now: number;
}

/**
 * Prices at the ends of equal steps, the last one of which runs: each at its time. The axis begins
 * at the end of the first step, whose price is the first that is known.
 */
export function closesOf(
  prices: (number | null)[],
  { from, stepMs, now }: Steps,
): Axis & { points: TimedPrice[] } {
  const begin = from + stepMs;
  // The clock of the server may be ahead of this one.
  const to = Math.max(now, from + (prices.length - 1) * stepMs);
  const points = prices.flatMap((price, index) => {
    const time = index === prices.length - 1 ? to : from + (index + 1) * stepMs;
    return price === null ? [] : [{ time, price }];
  });
  return { from: begin, to, points };
}
