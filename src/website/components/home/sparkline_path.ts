import { stepPath } from "../chart/line_path.ts";
import type { Axis, TimedPrice } from "../chart/price_line.ts";
import { xOf } from "../chart/time_axis.ts";

export const SPARK_WIDTH = 96;
export const SPARK_HEIGHT = 28;

/**
 * The path of a small line through prices from 0 to 100, each at its time. It begins with the first
 * price; empty with less than two.
 */
export function sparklinePath({ points, ...axis }: Axis & { points: TimedPrice[] }): string {
  if (points.length < 2) return "";
  const prices = points.map(({ price }) => price);
  const low = Math.min(...prices);
  const span = Math.max(Math.max(...prices) - low, 4);
  return stepPath(
    points,
    (time) => xOf(time, axis, SPARK_WIDTH),
    (price) => SPARK_HEIGHT - 2 - ((price - low) / span) * (SPARK_HEIGHT - 4),
  );
}
