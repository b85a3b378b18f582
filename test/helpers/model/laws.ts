import { isDeepStrictEqual } from "node:util";
import type { ExecutionContext } from "ava";
import fc from "fast-check";
import { opening, programs, rarities } from "./programs.ts";
import type { Step } from "./programs.ts";
import { effort, seed } from "../random.ts";

const SHRINK_MS = 20_000;

/** How long a random test may take. */
export function patienceMs(): number {
  return Math.max(240_000, effort(240_000));
}

/** Checks a law for random programs; when it fails, logs the shortest program that breaks it. */
export async function holds(
  t: ExecutionContext,
  usualRuns: number,
  law: (program: Step[]) => Promise<void>,
): Promise<void> {
  const settings = { seed: seed(), numRuns: effort(usualRuns) };
  t.timeout(patienceMs());
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

/** Compares tables, or the fingerprints of tables. */
export function expectSameTables(
  found: Record<string, string>,
  expected: Record<string, string>,
): void {
  expectSame("table", Object.entries(found), Object.entries(expected));
}
