import { setTimeout as delay } from "node:timers/promises";
import type { NextWork } from "../database/calls.ts";
import type { WorkerHealth } from "./health.ts";
import type { DueKind } from "./job.ts";

export interface ClockOptions {
  /** Reads the tables. */
  nextWork: () => Promise<NextWork>;
  /** Requests the job of a kind, without waiting for it. */
  request: (kind: DueKind) => Promise<void>;
  kinds: DueKind[];
  health: WorkerHealth;
}

/** Requests jobs when something is due. */
export interface Clock {
  close: () => Promise<void>;
}

/** What is added later may be due earlier than what was read. */
const ROUND_MS = 100;
/** How long to wait for a database that does not answer. */
const BACKOFF_MS = 1000;

/** Reads what is due next, sleeps until then, and requests its job. */
export function startClock({ nextWork, request, kinds, health }: ClockOptions): Clock {
  const ending = new AbortController();

  async function round(): Promise<number> {
    try {
      const next = await nextWork();
      let wait = ROUND_MS;
      for (const kind of kinds) {
        const inMs = next[`${kind}InMs`] ?? Infinity;
        if (inMs <= 0) await request(kind);
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
