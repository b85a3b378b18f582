import { formatCents, formatVolume } from "../../format.ts";

/** How a chart writes its values, and at which of them it has a line across. */
export interface Scale {
  stepsOf: (values: number[]) => number[];
  /** At a line across, and at the end of a line. */
  label: (value: number) => string;
  /** Of a moment that is pointed at. */
  words: (value: number | undefined) => string;
}

/** One cent more or less is not to look like much. */
const PERCENTS = [5, 10, 20, 25];
const MOST_STEPS = 5;

/** Prices, in per cent. */
export const percentScale: Scale = {
  stepsOf: (prices) => multiplesAround(prices, PERCENTS, [0, 100]) ?? [0, 25, 50, 75, 100],
  label: (price) => `${price}%`,
  words: (price) => (price === undefined ? "no trade yet" : `${price}%`),
};

/** Up to this much, in cents, amounts have their cents. */
const FEW_CENTS = 1000;

/** Amounts, in cents: at whole euros, however large they are; at parts of one if they are few. */
export const moneyScale: Scale = {
  stepsOf: (cents) => {
    const isFew = cents.every((one) => Math.abs(one) < FEW_CENTS);
    return multiplesAround(cents, eurosSizes(isFew)) ?? [];
  },
  label: (cents) =>
    cents % 100 === 0 || Math.abs(cents) > FEW_CENTS ? formatVolume(cents) : formatCents(cents),
  words: (cents) => (cents === undefined ? "–" : formatCents(cents)),
};

/** 1, 2, 5, 10, 20 euros, and so on; half a euro before them where amounts are few. */
function* eurosSizes(isFew: boolean): Iterable<number> {
  if (isFew) yield 50;
  for (let power = 100; Number.isSafeInteger(power); power *= 10)
    yield* [power, 2 * power, 5 * power];
}

/** The multiples around all values, within bounds, of the first size that has few enough of them. */
function multiplesAround(
  values: number[],
  sizes: Iterable<number>,
  [lowest, highest] = [-Infinity, Infinity],
): number[] | undefined {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  for (const size of sizes) {
    // A line that is level lies in the middle.
    const margin = least === most ? size : 0;
    const first = Math.max(lowest, Math.floor((least - margin) / size) * size);
    const last = Math.min(
      highest,
      Math.max(first + size, Math.ceil((most + margin) / size) * size),
    );
    const count = (last - first) / size + 1;
    if (count <= MOST_STEPS) return Array.from({ length: count }, (_, at) => first + at * size);
  }
  return undefined;
}
