export const SPARK_WIDTH = 96;
export const SPARK_HEIGHT = 28;

/** The path of a small line through prices from 0 to 100, oldest first. */
export function sparklinePath(prices: number[]): string {
  const low = Math.min(...prices);
  const span = Math.max(Math.max(...prices) - low, 4);
  const step = SPARK_WIDTH / Math.max(prices.length - 1, 1);
  return prices
    .map((price, index) => {
      const x = (index * step).toFixed(1);
      const y = (SPARK_HEIGHT - 2 - ((price - low) / span) * (SPARK_HEIGHT - 4)).toFixed(1);
      return `${index === 0 ? "M" : "L"}${x} ${y}`;
    })
    .join("");
}
