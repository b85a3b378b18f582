import { setTimeout as delay } from "node:timers/promises";

/** Waits until the condition holds; how many milliseconds that took. Throws if it never does. */
export async function until(
  condition: string,
  holds: () => Promise<boolean>,
  mostMs = 20_000,
): Promise<number> {
  const began = performance.now();
  for (;;) {
    if (await holds()) return performance.now() - began;
    if (performance.now() - began > mostMs) {
      throw new Error(`not within ${mostMs} ms: ${condition}`);
    }
    await delay(10);
  }
}
