const SIZES = [1, 2, 5, 10, 20, 25];
const MOST_STEPS = 5;

/** The per cents at which a chart has a line: multiples of one size, around all prices. */
export function stepsOf(prices: number[]): number[] {
  const [least, most] = [Math.min(...prices), Math.max(...prices)];
  // A line that is level lies in the middle.
  const [low, high] = least === most ? [least - 1, most + 1] : [least, most];
  for (const size of SIZES) {
    const first = Math.floor(low / size) * size;
    const last = Math.max(first + size, Math.ceil(high / size) * size);
    const count = (last - first) / size + 1;
    if (count <= MOST_STEPS) return Array.from({ length: count }, (_, at) => first + at * size);
  }
  return [0, 25, 50, 75, 100];
}
