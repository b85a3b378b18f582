import type { Result } from "./result.ts";
import type { TakeTurn } from "./turns.ts";
import type { RealityCheck } from "./types.ts";

/** After a read that failed. */
export const RETRY_MS = 60_000;

interface FollowOptions {
  read: () => Promise<Result<RealityCheck>>;
  /** Undefined where windows cannot share turns: each of them reminds then. */
  takeTurn: TakeTurn | undefined;
  onDue: (check: RealityCheck) => void;
}

/**
 * Calls `onDue` once, when the server says that a reminder is due, in the one window of the browser
 * that has the turn. The returned function ends it, and the turn.
 */
export function followRealityCheck({ read, takeTurn, onDue }: FollowOptions): () => void {
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const look = async (): Promise<void> => {
    const result = await read();
    if (isOver) return;
    const dueInMs = result.ok ? result.data.dueInMs : RETRY_MS;
    if (dueInMs === null) return;
    if (result.ok && dueInMs === 0) onDue(result.data);
    else timer = setTimeout(() => void look(), dueInMs);
  };

  const begin = (): void => void look();
  const endTurn = takeTurn?.({ onWait: () => undefined, onTurn: begin });
  if (takeTurn === undefined) begin();
  return () => {
    isOver = true;
    clearTimeout(timer);
    endTurn?.();
  };
}

/** "1 hour 5 minutes": how long a visit has lasted. */
export function durationWords(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  const parts = [
    [Math.floor(minutes / 60), "hour"],
    [minutes % 60, "minute"],
  ] as const;
  const said = parts.filter(([count]) => count > 0);
  if (said.length === 0) return "less than a minute";
  return said.map(([count, unit]) => `${count} ${unit}${count === 1 ? "" : "s"}`).join(" ");
}
