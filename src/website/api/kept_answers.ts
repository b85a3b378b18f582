import type { Result } from "./result.ts";

/** What is kept beyond the load of a page; as `Storage` of the browser. */
type Store = Pick<Storage, "getItem" | "setItem">;

interface KeptAnswersOptions<Value> {
  /** Names the answers in the storage. */
  name: string;
  /** How long an answer is given again. */
  keptMs: number;
  ask: (id: string) => Promise<Result<Value>>;
  /** Undefined where the browser allows none. */
  store?: Store | undefined;
}

interface KeptAnswers<Value> {
  /** The answer that is kept, or a new one. */
  read: (id: string) => Promise<Result<Value>>;
}

interface Kept<Value> {
  at: number;
  value: Value;
}

/** No question is asked for so long after one too many, unless the server says how long. */
const PAUSE_MS = 60_000;

/**
 * Asks about each id once in a while, and keeps the answers while the window is open: a client may
 * ask only so often. Questions at the same time are one. After one question too many, none is asked
 * until the server takes more.
 */
export function keepAnswers<Value>({
  name,
  keptMs,
  ask,
  store = storage(),
}: KeptAnswersOptions<Value>): KeptAnswers<Value> {
  const kept = new Map<string, Kept<Value>>();
  const asking = new Map<string, Promise<Result<Value>>>();
  let pausedUntil = 0;

  async function read(id: string): Promise<Result<Value>> {
    const now = Date.now();
    const known = kept.get(id) ?? readStored(id);
    if (known !== undefined && now - known.at < keptMs) return { ok: true, data: known.value };
    const open = asking.get(id);
    if (open !== undefined) return await open;
    if (now < pausedUntil) return tooMany(pausedUntil - now);
    const question = askAnew(id, now).finally(() => {
      asking.delete(id);
    });
    asking.set(id, question);
    return await question;
  }

  async function askAnew(id: string, at: number): Promise<Result<Value>> {
    const result = await ask(id);
    if (result.ok) {
      const entry = { at, value: result.data };
      kept.set(id, entry);
      writeStored(id, entry);
    } else if (result.problem.status === 429) {
      const seconds = result.problem.retryAfterSeconds;
      pausedUntil = Date.now() + (seconds === undefined ? PAUSE_MS : seconds * 1000);
    }
    return result;
  }

  const keyOf = (id: string): string => `pgmarkets.${name}.${id}`;

  function readStored(id: string): Kept<Value> | undefined {
    try {
      const text = store?.getItem(keyOf(id));
      const entry =
        text === null || text === undefined ? undefined : (JSON.parse(text) as Kept<Value>);
      if (entry !== undefined) kept.set(id, entry);
      return entry;
    } catch {
      return undefined;
    }
  }

  function writeStored(id: string, entry: Kept<Value>): void {
    try {
      store?.setItem(keyOf(id), JSON.stringify(entry));
    } catch {
      // The storage is full: the next load of a page asks anew.
    }
  }

  return { read };
}

/** The browser may not allow scripts to store anything. */
function storage(): Store | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

function tooMany(waitMs: number): Result<never> {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  return { ok: false, problem: { status: 429, error: "Too many requests", retryAfterSeconds } };
}
