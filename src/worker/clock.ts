import { setTimeout as delay } from "node:timers/promises";
import { clockOffsetMs } from "../clock_offset.ts";
import type { NextWork } from "../database/job_calls.ts";
import type { WorkerHealth } from "./health.ts";
import type { DueKind } from "./job.ts";

export interface ClockOptions {
  /** Reads the tables. */
  nextWork: () => Promise<NextWork>;
  /** Requests the job of a kind, without waiting for it. */
  request: (kind: DueKind) => Promise<void>;
  kinds: DueKind[];
  /** Requests the jobs of the crontab, by the time of the database. */
  tick: (atMs: number) => Promise<void>;
  /** What the worker does for others to see how it is. */
  chores: Chore[];
  health: WorkerHealth;
}

/** Something that is done every so often. */
export interface Chore {
  /** What it does, in the log and in `/readyz`. */
  what: string;
  everyMs: number;
  run: () => Promise<void>;
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
export function startClock(options: ClockOptions): Clock {
  const { nextWork, request, kinds, tick, chores, health } = options;
  const ending = new AbortController();
  const doneAt = new Map<Chore, number>();

  async function doChores(): Promise<void> {
    for (const chore of chores) {
      const { what, everyMs, run: work } = chore;
      if (performance.now() - (doneAt.get(chore) ?? -Infinity) < everyMs) continue;
      doneAt.set(chore, performance.now());
      try {
        await work();
        health.succeeded(what);
      } catch (error) {
        health.failed(what, error);
      }
    }
  }

  async function round(): Promise<number> {
    try {
      const before = Date.now();
      const next = await nextWork();
      health.noteClockOffset(clockOffsetMs(before, next.atMs, Date.now()));
      let wait = ROUND_MS;
      for (const kind of kinds) {
        const inMs = next[`${kind}InMs`] ?? Infinity;
        if (inMs <= 0) await request(kind);
        else wait = Math.min(wait, Math.ceil(inMs));
      }
      await tick(next.atMs);
      health.succeeded("seeing what is due");
      await doChores();
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
