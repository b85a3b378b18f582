import { startTimer } from "../later.ts";
import type { Later } from "../later.ts";
import { DatabaseFailure } from "./failures.ts";
import type { Turn } from "./failures.ts";

/** What a call counts against, by kind: a user, a market, and so on. */
export type Holds<Kind extends string> = Partial<Record<Kind, string | readonly string[]>>;

/** How many calls may be under way at once. */
export interface CallLimits<Kind extends string> {
  /** All together. */
  most: number;
  /** Calls that count against the same user, the same market, and so on. */
  each: Record<Kind, number>;
}

export interface CallLimiterOptions<Kind extends string> {
  limits: CallLimits<Kind>;
  /** How long a call waits for its turn. Then it fails as if there were no connection. */
  patienceMs?: number;
  /** Calls at most that may wait, a quarter of it in one line; beyond it new ones are rejected. */
  waitingCap?: number;
  later?: Later;
}

/** While too many calls are under way, further ones wait in the process, without a connection. */
export interface CallLimiter<Kind extends string> {
  /**
   * Gives each attempt of a call a turn. The calls of one line go in their order, and the lines take
   * turns. A call waits while one of its limits is reached; other lines overtake it.
   */
  turn: (line: string, holds: Holds<Kind>) => Turn;
}

interface Place {
  key: string;
  most: number;
}

interface Waiting {
  places: Place[];
  start: () => void;
}

/**
 * How long a request waits at most: for its turn or its token, for locks of others, and for the calls
 * that finish it.
 */
export const REQUEST_PATIENCE_MS = 5000;

const DEFAULT_WAITING_CAP = 10_000;

export function createCallLimiter<Kind extends string>({
  limits: { most, each },
  patienceMs = REQUEST_PATIENCE_MS,
  waitingCap = DEFAULT_WAITING_CAP,
  later = startTimer,
}: CallLimiterOptions<Kind>): CallLimiter<Kind> {
  /** Calls under way, by what they count against. */
  const taken = new Map<string, number>();
  /** Calls that wait. The next line comes first. No line is empty. */
  const lines = new Map<string, Waiting[]>();
  let working = 0;
  let waiting = 0;

  function placesOf(holds: Holds<Kind>): Place[] {
    return (Object.keys(holds) as Kind[]).flatMap((kind) =>
      [holds[kind] ?? []].flat().map((name) => ({ key: `${kind} ${name}`, most: each[kind] })),
    );
  }

  function canStart(places: Place[]): boolean {
    return working < most && places.every((place) => (taken.get(place.key) ?? 0) < place.most);
  }

  function start(places: Place[]): void {
    working++;
    for (const { key } of places) taken.set(key, (taken.get(key) ?? 0) + 1);
  }

  function end(places: Place[]): void {
    working--;
    for (const { key } of places) {
      const left = (taken.get(key) ?? 0) - 1;
      if (left > 0) taken.set(key, left);
      else taken.delete(key);
    }
    startWaiting();
  }

  /** Starts the calls that may start. A line that had its turn goes behind the others. */
  function startWaiting(): void {
    for (const [line, calls] of lines) {
      if (working >= most) return;
      const [first] = calls;
      if (first === undefined || !canStart(first.places)) continue;
      calls.shift();
      lines.delete(line);
      if (calls.length > 0) lines.set(line, calls);
      start(first.places);
      first.start();
    }
  }

  /** Resolves when the call has its places. */
  function wait(line: string, places: Place[]): Promise<void> {
    const calls = lines.get(line) ?? [];
    if (waiting >= waitingCap || calls.length >= waitingCap / 4) {
      return Promise.reject(new DatabaseFailure("overloaded"));
    }
    return new Promise((resolve, reject) => {
      const stopTimer = later(() => {
        waiting--;
        calls.splice(calls.indexOf(call), 1);
        if (calls.length === 0) lines.delete(line);
        reject(new DatabaseFailure("unreachable"));
        startWaiting();
      }, patienceMs);
      const call = {
        places,
        start: () => {
          waiting--;
          stopTimer();
          resolve();
        },
      };
      waiting++;
      calls.push(call);
      lines.set(line, calls);
    });
  }

  return {
    turn: (line, holds) => {
      const places = placesOf(holds);
      return async (attempt) => {
        // All that could start has started, so this call overtakes none of its line.
        if (lines.has(line) || !canStart(places)) await wait(line, places);
        else start(places);
        try {
          return await attempt();
        } finally {
          end(places);
        }
      };
    },
  };
}
