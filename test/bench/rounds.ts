import type { Sizes } from "./sizes.ts";

/** One measurement that lasts about so many seconds and gives a figure. */
export type Measure = (seconds: number) => Promise<number>;

/** The figures of a target, one of each list for each round. */
export interface Figures {
  reference: number[];
  ours: number[];
}

/**
 * Measures the reference, if there is one, and ours by turns, so that whatever else goes on in the
 * machine is borne by both; first a round that doesn't count.
 */
export async function measureInRounds(
  { rounds, warmUpSeconds }: Sizes,
  seconds: number,
  measure: { name: string; reference?: Measure; ours: Measure },
): Promise<Figures> {
  const figures: Figures = { reference: [], ours: [] };
  if (warmUpSeconds > 0) {
    await measure.reference?.(warmUpSeconds);
    await measure.ours(warmUpSeconds);
  }
  for (let round = 1; round <= rounds; round++) {
    const reference = await measure.reference?.(seconds);
    const ours = await measure.ours(seconds);
    if (reference !== undefined) figures.reference.push(reference);
    figures.ours.push(ours);
    const first = reference === undefined ? "" : `reference ${reference.toPrecision(4)}, `;
    console.error(
      `  ${measure.name}, round ${round} of ${rounds}: ${first}ours ${ours.toPrecision(4)}`,
    );
  }
  return figures;
}

/** The rounds of a target that is not compared with a reference; the warm-up does not count. */
export function* roundsOf({
  rounds,
  warmUpSeconds,
}: Sizes): Generator<{ round: number; isCounted: boolean }> {
  for (let round = warmUpSeconds > 0 ? 0 : 1; round <= rounds; round++) {
    yield { round, isCounted: round > 0 };
  }
}

/** How many milliseconds the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

export function mean(figures: number[]): number {
  return figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
}

export function median(figures: number[]): number {
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

/** The least figure that so many of them, as a share of 1, don't exceed. */
export function quantile(figures: number[], share: number): number {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}
