/** The part of a browser's locks that turns need. A page that is closed loses what it holds. */
export interface Locks {
  request: (
    name: string,
    options: { ifAvailable?: boolean; signal?: AbortSignal },
    hold: (lock: unknown) => Promise<void>,
  ) => Promise<unknown>;
}

/** Called when a turn that was asked for begins, or has to wait. */
export interface TurnEvents {
  /** All turns are taken by others: it waits until one is over. */
  onWait: () => void;
  onTurn: () => void;
}

/** Asks for a turn. The returned function ends it, or the wait for it. */
export type TakeTurn = (events: TurnEvents) => () => void;

/**
 * Turns that all windows of a browser share, as many at once as there are names. A window that is
 * closed loses its turn.
 */
export function sharedTurns(locks: Locks, names: readonly string[]): TakeTurn {
  return ({ onWait, onTurn }) => {
    const waiting = new AbortController();
    const over = Promise.withResolvers<undefined>();
    let state: "asking" | "taken" | "over" = "asking";

    const isAsking = (): boolean => state === "asking";

    const hold = async (lock: unknown): Promise<void> => {
      if (lock === null || !isAsking()) return;
      state = "taken";
      waiting.abort();
      onTurn();
      await over.promise;
    };

    void (async () => {
      for (const name of names) {
        if (!isAsking()) return;
        await locks.request(name, { ifAvailable: true }, hold);
      }
      if (!isAsking()) return;
      onWait();
      for (const name of names) {
        // Who got one of them, or waits no longer, leaves the other queues.
        locks.request(name, { signal: waiting.signal }, hold).catch(() => undefined);
      }
    })();

    return () => {
      state = "over";
      waiting.abort();
      over.resolve(undefined);
    };
  };
}
