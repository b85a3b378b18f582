import { singleFlightByKey } from "../../single_flight.ts";
import { keptStore } from "./kept_store.ts";
import type { Store } from "./kept_store.ts";
import type { Result } from "./result.ts";

interface KeptAnswersOptions<Value> {
  /** Names the answers in the storage. */
  name: string;
  /** How long an answer is given again. */
  keptMs: number;
  ask: (id: string) => Promise<Result<Value>>;
  store?: Store | null | undefined;
}

interface KeptAnswers<Value> {
  /** The answer that is kept, or a new one. */
  read: (id: string) => Promise<Result<Value>>;
  /** Lets the next read ask anew. */
  drop: (id: string) => void;
}

/** No question is asked for so long after one too many, unless the server says how long. */
const PAUSE_MS = 60_000;

/**
 * Asks about each id once in a while, and keeps the answers while the window is open: a client may
 * ask only so often. Questions at the same time are one. After one question too many, none is asked
 * until the server takes more.
 */
export function keepAnswers<Value>({
  ask,
  ...options
}: KeptAnswersOptions<Value>): KeptAnswers<Value> {
  const kept = keptStore<Value>(options);
  let pausedUntil = 0;

  const askAnew = singleFlightByKey(async (id): Promise<Result<Value>> => {
    const at = Date.now();
    if (at < pausedUntil) return tooMany(pausedUntil - at);
    const result = await ask(id);
    if (result.ok) {
      kept.set(id, result.data, at);
    } else if (result.problem.status === 429) {
      const seconds = result.problem.retryAfterSeconds;
      pausedUntil = Date.now() + (seconds === undefined ? PAUSE_MS : seconds * 1000);
    }
    return result;
  });

  async function read(id: string): Promise<Result<Value>> {
    const data = kept.get(id);
    return data === undefined ? await askAnew(id) : { ok: true, data };
  }

  return { read, drop: kept.drop };
}

function tooMany(waitMs: number): Result<never> {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  return { ok: false, problem: { status: 429, error: "Too many requests", retryAfterSeconds } };
}
