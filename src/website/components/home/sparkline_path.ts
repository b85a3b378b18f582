export const SPARK_WIDTH = 96;
export const SPARK_HEIGHT = 28;

/**
 * The path of a small line through prices from 0 to 100 at equal distances of time, oldest first. It
 * begins with the first price; empty without one.
 */
export function sparklinePath(prices: (number | null)[]): string {
  const known = prices.filter((price) => price !== null);
  const low = Math.min(...known);
  const span = Math.max(Math.max(...known) - low, 4);
  const step = SPARK_WIDTH / Math.max(prices.length - 1, 1);
  const points = prices.flatMap((price, index) => {
    if (price === null) return [];
    const y = SPARK_HEIGHT - 2 - ((price - low) / span) * (SPARK_HEIGHT - 4);
    return [`${(index * step).toFixed(1)} ${y.toFixed(1)}`];
  });
  return points.length < 2 ? "" : `M${points.join("L")}`;
}
