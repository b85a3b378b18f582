import { startTimer } from "../later.ts";
import type { Later } from "../later.ts";
import { createTally } from "../tally.ts";
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
  /** The line that has every second turn, however many others there are. */
  often?: string;
}

export interface CallLimiterOptions<Kind extends string> {
  limits: CallLimits<Kind>;
  /** How long a call waits for its turn. Then it fails, as beyond the cap. */
  patienceMs?: number;
  /** Calls at most that may wait, a quarter of it in one line; beyond it new ones are rejected. */
  waitingCap?: number;
  later?: Later;
}

/** While too many calls are under way, further ones wait in the process, without a connection. */
export interface CallLimiter<Kind extends string> {
  /**
   * Gives each attempt of a call a turn. The calls of one line go in their order, and the lines take
   * turns; see also `often`. A call waits while one of its limits is reached, or while `restMs` is
   * above 0; other lines overtake it. It waits no longer than `patienceMs`.
   */
  turn: (
    line: string,
    holds: Holds<Kind>,
    options?: { restMs?: () => number; patienceMs?: () => number },
  ) => Turn;
}

interface Place {
  key: string;
  most: number;
}

interface Call {
  places: Place[];
  restMs: () => number;
  patienceMs: () => number;
}

interface Waiting extends Call {
  start: () => void;
}

const noRest = (): number => 0;

/**
 * How long a request waits at most: for its turn or its token, for locks of others, and for the calls
 * that finish it.
 */
export const REQUEST_PATIENCE_MS = 5000;

const DEFAULT_WAITING_CAP = 10_000;
/** While a call rests. Others may make its rest longer. */
const LOOK_AGAIN_MS = 50;

/** Does something soon, once however often it is asked to. */
function soonOnce(work: () => void, later: Later): (inMs: number) => void {
  let isAsked = false;
  return (inMs) => {
    if (isAsked) return;
    isAsked = true;
    const begin = (): void => {
      isAsked = false;
      work();
    };
    later(begin, Math.min(inMs, LOOK_AGAIN_MS));
  };
}

function placesOf<Kind extends string>(holds: Holds<Kind>, { each }: CallLimits<Kind>): Place[] {
  return (Object.keys(holds) as Kind[]).flatMap((kind) =>
    [holds[kind] ?? []].flat().map((name) => ({ key: `${kind} ${name}`, most: each[kind] })),
  );
}

export function createCallLimiter<Kind extends string>({
  limits,
  patienceMs: mostPatienceMs = REQUEST_PATIENCE_MS,
  waitingCap = DEFAULT_WAITING_CAP,
  later = startTimer,
}: CallLimiterOptions<Kind>): CallLimiter<Kind> {
  const { most, often = "" } = limits;
  /** Calls under way, by what they count against. */
  const counts = createTally();
  /** Calls that wait. The next line comes first. No line is empty. */
  const lines = new Map<string, Waiting[]>();
  let working = 0;
  let waiting = 0;
  let lastLine = "";
  const lookAgain = soonOnce(() => {
    startWaiting();
  }, later);

  const isFree = ({ key, most }: Place) => counts.of(key) < most;

  function canStart({ places, restMs }: Call): boolean {
    const leftMs = restMs();
    if (leftMs > 0) lookAgain(leftMs);
    return leftMs <= 0 && working < most && places.every(isFree);
  }

  function start(places: Place[]): void {
    working++;
    for (const { key } of places) counts.add(key, 1);
  }

  function end(places: Place[]): void {
    working--;
    for (const { key } of places) counts.add(key, -1);
    startWaiting();
  }

  /** Starts the calls that may start. A line that had its turn goes behind the others. */
  function startWaiting(): void {
    if (lastLine !== often) startFirst(often);
    for (const line of lines.keys()) {
      if (working >= most) return;
      startFirst(line);
    }
  }

  function startFirst(line: string): void {
    const calls = lines.get(line) ?? [];
    const [first] = calls;
    if (first === undefined || !canStart(first)) return;
    calls.shift();
    lines.delete(line);
    if (calls.length > 0) lines.set(line, calls);
    lastLine = line;
    start(first.places);
    first.start();
  }

  /** Resolves when the call has its places. */
  function wait(line: string, { places, restMs, patienceMs }: Call): Promise<void> {
    const calls = lines.get(line) ?? [];
    if (waiting >= waitingCap || calls.length >= waitingCap / 4) {
      return Promise.reject(new DatabaseFailure("overloaded"));
    }
    return new Promise((resolve, reject) => {
      const stopTimer = later(() => {
        waiting--;
        calls.splice(calls.indexOf(call), 1);
        if (calls.length === 0) lines.delete(line);
        reject(new DatabaseFailure("overloaded"));
        startWaiting();
      }, patienceMs());
      const call = {
        ...{ places, restMs, patienceMs },
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
    turn: (line, holds, { restMs = noRest, patienceMs = () => mostPatienceMs } = {}) => {
      const places = placesOf(holds, limits);
      return async (attempt) => {
        const call = { places, restMs, patienceMs };
        // All that could start has started, so this call overtakes none of its line.
        if (lines.has(line) || !canStart(call)) await wait(line, call);
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
