import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { ExecutionContext } from "ava";
import fc from "fast-check";
import { opening, programs, rarities } from "./programs.ts";
import type { Step } from "./programs.ts";

/** The seed of all that is random in a run: `npm test` prints it, and TEST_SEED repeats it. */
export function seed(): number {
  const found = fromEnvironment("TEST_SEED");
  if (found === undefined) throw new Error("TEST_SEED is not set: run the tests by npm test");
  return found;
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

/** How often to do something random: TEST_EFFORT times as often as usual. */
export function effort(usual: number): number {
  return Math.ceil(usual * (fromEnvironment("TEST_EFFORT") ?? 1));
}

function fromEnvironment(name: string): number | undefined {
  const text = process.env[name];
  return text === undefined || text === "" ? undefined : Number(text);
}

const SHRINK_MS = 20_000;

/** Holds a law against random programs; when it fails, tells the shortest program it fails for. */
export async function holds(
  t: ExecutionContext,
  usualRuns: number,
  law: (program: Step[]) => Promise<void>,
): Promise<void> {
  const settings = { seed: seed(), numRuns: effort(usualRuns) };
  t.log(`${settings.numRuns} runs`);
  await law([...opening(), ...rarities()]);
  let failedAt = Infinity;
  const property = fc.asyncProperty(programs(), async (history) => {
    // A shorter program is worth some seconds, not the time limit of the test.
    if (Date.now() > failedAt + SHRINK_MS) return;
    try {
      await law([...opening(), ...history]);
    } catch (error) {
      failedAt = Math.min(failedAt, Date.now());
      throw error;
    }
  });
  const { failed, counterexample, errorInstance } = await fc.check(property, settings);
  if (counterexample !== null) {
    t.log([...opening(), ...counterexample[0]].map(describe).join("\n"));
  }
  t.false(failed, errorInstance instanceof Error ? errorInstance.message : String(errorInstance));
}

function describe(step: Step): string {
  if (step.kind !== "batch") return JSON.stringify(step);
  const lines = step.orders.map((order) => {
    const said = Object.entries(order).filter(([, value]) => value !== null && value !== false);
    return `  ${said.map(([name, value]) => `${name} ${value}`).join(", ")}`;
  });
  return [`in market ${step.market}:`, ...lines].join("\n");
}

/** Throws where two lists first differ; short enough to be read when a random test fails. */
export function expectSame(what: string, found: unknown[], expected: unknown[]): void {
  for (let index = 0; index < Math.max(found.length, expected.length); index++) {
    if (isDeepStrictEqual(found[index], expected[index])) continue;
    const [left, right] = [found[index], expected[index]].map((value) => JSON.stringify(value));
    throw new Error(`${what} ${index}:\n  found    ${left ?? "-"}\n  expected ${right ?? "-"}`);
  }
}
