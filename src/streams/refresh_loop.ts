import { setTimeout as delay } from "node:timers/promises";

export interface RefreshLoopOptions {
  refresh: () => Promise<unknown>;
  /** Whether there is a client to refresh for. */
  isNeeded: () => boolean;
  onFailure: (error: unknown) => void;
}

/** Refreshes what clients follow for as long as there may be something newer. */
export interface RefreshLoop {
  /** There may be something newer. */
  markStale: () => void;
  /** Continues after a time without clients. */
  resume: () => void;
  /** A frame was sent to all clients since `began`, by performance.now(): a gap follows. */
  noteFrame: (began: number) => void;
}

/** Changes within this time after a frame share the next one. */
const GAP_MS = 20;
/** A frame for many clients takes longer. The gap grows with it up to this. */
const LONGEST_GAP_MS = 60;
/** The pause after a refresh that failed. */
export const RETRY_MS = 250;

export function createRefreshLoop(options: RefreshLoopOptions): RefreshLoop {
  const { refresh, isNeeded, onFailure } = options;
  /** There may be something newer than the latest refresh read. */
  let isStale = false;
  let isRunning = false;
  /** When the next frame may be sent, by performance.now(). */
  let nextAt = 0;

  async function run(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (isStale && isNeeded()) {
      const waitMs = nextAt - performance.now();
      if (waitMs > 0) await delay(waitMs);
      isStale = false;
      try {
        await refresh();
      } catch (error) {
        onFailure(error);
        isStale = true;
        await delay(RETRY_MS);
      }
    }
    isRunning = false;
  }

  return {
    markStale: () => {
      isStale = true;
      void run();
    },
    resume: () => void run(),
    noteFrame: (began) => {
      const now = performance.now();
      nextAt = now + Math.min(Math.max(GAP_MS, now - began), LONGEST_GAP_MS);
    },
  };
}
