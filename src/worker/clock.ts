import { setTimeout as delay } from "node:timers/promises";
import type { NextDue } from "../database/calls.ts";
import type { WorkerHealth } from "./health.ts";
import type { DueKind } from "./job.ts";

export interface ClockOptions {
  /** Asks the tables. */
  nextDue: () => Promise<NextDue>;
  /** Has whatever is due of a kind done; settles before it is. */
  ring: (kind: DueKind) => Promise<void>;
  kinds: DueKind[];
  health: WorkerHealth;
}

/** Sees when something is due. */
export interface Clock {
  close: () => Promise<void>;
}

/** What is added meanwhile may be due earlier than anything that was there. */
const ROUND_MS = 100;
/** How long to wait for a database that does not answer. */
const BACKOFF_MS = 1000;

/** Looks what is due next, sleeps until then, and rings. */
export function startClock({ nextDue, ring, kinds, health }: ClockOptions): Clock {
  const ending = new AbortController();

  async function round(): Promise<number> {
    try {
      const next = await nextDue();
      let wait = ROUND_MS;
      for (const kind of kinds) {
        const inMs = next[`${kind}InMs`] ?? Infinity;
        if (inMs <= 0) await ring(kind);
        else wait = Math.min(wait, Math.ceil(inMs));
      }
      health.succeeded("seeing what is due");
      return wait;
    } catch (error) {
      health.failed("seeing what is due", error);
      return BACKOFF_MS;
    }
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      const wait = await round();
      await delay(wait, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    close: async () => {
      ending.abort();
      await running;
    },
  };
}
