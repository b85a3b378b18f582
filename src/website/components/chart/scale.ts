import { formatCents, formatVolume } from "../../format.ts";

/** How a chart writes its values, and at which of them it has a line across. */
export interface Scale {
  stepsOf: (values: number[]) => number[];
  /** At a line across, and at the end of a line. */
  label: (value: number) => string;
  /** Of a moment that is pointed at. */
  words: (value: number | undefined) => string;
}

const PERCENTS = [1, 2, 5, 10, 20, 25];
const MOST_STEPS = 5;

/** Prices, in per cent. */
export const percentScale: Scale = {
  stepsOf: (prices) => multiplesAround(prices, PERCENTS) ?? [0, 25, 50, 75, 100],
  label: (price) => `${price}%`,
  words: (price) => (price === undefined ? "no trade yet" : `${price}%`),
};

/** Amounts, in cents: at whole euros, however large they are. */
export const moneyScale: Scale = {
  stepsOf: (cents) => multiplesAround(cents, eurosSizes()) ?? [],
  label: formatVolume,
  words: (cents) => (cents === undefined ? "–" : formatCents(cents)),
};

/** 1, 2, 5, 10, 20 euros, and so on. */
function* eurosSizes(): Iterable<number> {
  for (let power = 100; Number.isSafeInteger(power); power *= 10)
    yield* [power, 2 * power, 5 * power];
}

/** The multiples around all values of the first size that has few enough of them. */
function multiplesAround(values: number[], sizes: Iterable<number>): number[] | undefined {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  for (const size of sizes) {
    // A line that is level lies in the middle.
    const margin = least === most ? size : 0;
    const first = Math.floor((least - margin) / size) * size;
    const last = Math.max(first + size, Math.ceil((most + margin) / size) * size);
    const count = (last - first) / size + 1;
    if (count <= MOST_STEPS) return Array.from({ length: count }, (_, at) => first + at * size);
  }
  return undefined;
}
