import type { Move, Mover } from "./moves.ts";
import type { Side } from "./primaries.ts";

/** Moves cash of one user. */
export type MoveCash = (from: Side, move: Move) => Promise<void>;

interface Waiting {
  move: Move;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Lets the moves that come in while others are under way share the next transaction, as a server
 * gathers orders. One transaction at a time: more would wait for the lock of the outside world.
 */
export function gatherMoves(mover: Mover): MoveCash {
  const queues: Record<Side, Waiting[]> = { 0: [], 1: [] };
  const state = { isBusy: false };

  async function work(): Promise<void> {
    if (state.isBusy) return;
    state.isBusy = true;
    for (let from: Side = 0; queues[0].length + queues[1].length > 0; from = from === 0 ? 1 : 0) {
      const waiting = queues[from].splice(0);
      if (waiting.length === 0) continue;
      try {
        await mover.move(
          from,
          waiting.map(({ move }) => move),
        );
        for (const { resolve } of waiting) resolve();
      } catch (error) {
        for (const { reject } of waiting) reject(error);
      }
    }
    state.isBusy = false;
  }

  return (from, move) =>
    new Promise((resolve, reject) => {
      queues[from].push({ move, resolve, reject });
      void work();
    });
}
