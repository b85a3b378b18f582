import { createHash, randomInt } from "node:crypto";

/** The seed of all that is random in a run: `npm test` prints it, and TEST_SEED repeats it. */
export function seed(): number {
  const found = fromEnvironment("TEST_SEED");
  if (found === undefined) throw new Error("TEST_SEED is not set: run the tests by npm test");
  return found;
}

/** Chooses a seed for this process and those that it starts, unless TEST_SEED names one. */
export function chooseSeed(): void {
  process.env.TEST_SEED ??= String(randomInt(2 ** 31));
}

/** A stream of random numbers. */
export interface Random {
  /** From 0 up to but not including 1. */
  next: () => number;
  /** A whole number; both bounds are possible. */
  between: (least: number, most: number) => number;
  /** True with this probability. */
  chance: (probability: number) => boolean;
  anyOf: <T>(things: readonly T[]) => T;
  shuffled: <T>(things: readonly T[]) => T[];
}

/** The stream of this name, which is the same whenever the seed is. */
export function randomFrom(name: string): Random {
  let state = numberFrom(name);
  // Mulberry32.
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    anyOf: (things) => things[between(0, things.length - 1)]!,
    shuffled: (things) => {
      const left = [...things];
      return things.map(() => left.splice(between(0, left.length - 1), 1)[0]!);
    },
  };
}

/** A number of 32 bits for a name, the same whenever the seed is. */
export function numberFrom(name: string, from = seed()): number {
  return createHash("sha256").update(`${from} ${name}`).digest().readUInt32BE();
}

/** A quarter suffices for most runs; `.ci/run --whole` does all. */
const USUAL_EFFORT = 0.25;

/** How often to do something random, of so many times: TEST_EFFORT is the part, and may be above 1. */
export function effort(times: number): number {
  return Math.ceil(times * (fromEnvironment("TEST_EFFORT") ?? USUAL_EFFORT));
}

/** The first of the things, as many as the effort allows and one at least. */
export function asManyOf<T>(things: readonly T[]): readonly T[] {
  return things.slice(0, effort(things.length));
}

function fromEnvironment(name: string): number | undefined {
  const text = process.env[name];
  return text === undefined || text === "" ? undefined : Number(text);
}
