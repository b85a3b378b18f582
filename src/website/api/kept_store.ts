/** What is kept beyond the load of a page; as `Storage` of the browser. */
export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

interface KeptStoreOptions {
  /** Names the answers in the storage. */
  name: string;
  /** How long an answer is given again. */
  keptMs: number;
  /** That of this window unless another is named; null: answers are kept in memory only. */
  store?: Store | null | undefined;
}

/** Answers by id, each for a while. */
export interface KeptStore<Value> {
  /** Undefined if it is not known, or is too old. */
  get: (id: string) => Value | undefined;
  /** Keeps what was asked for at a time. */
  set: (id: string, value: Value, at: number) => void;
  /** Drops the answer that is kept. */
  drop: (id: string) => void;
}

interface Kept<Value> {
  at: number;
  value: Value;
}

const forgetters = new Set<() => void>();

/** Drops all answers that are kept. */
export function forgetAnswers(): void {
  for (const forget of forgetters) forget();
}

/** Keeps answers in memory, and in the storage of this window for the next load of the page. */
export function keptStore<Value>({
  name,
  keptMs,
  store = storage(),
}: KeptStoreOptions): KeptStore<Value> {
  const kept = new Map<string, Kept<Value>>();
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

  function drop(id: string): void {
    kept.delete(id);
    store?.removeItem(keyOf(id));
  }

  forgetters.add(() => {
    for (const id of kept.keys()) drop(id);
  });
  return {
    get: (id) => {
      const known = kept.get(id) ?? readStored(id);
      return known !== undefined && Date.now() - known.at < keptMs ? known.value : undefined;
    },
    drop,
    set: (id, value, at) => {
      kept.set(id, { at, value });
      try {
        store?.setItem(keyOf(id), JSON.stringify({ at, value }));
      } catch {
        // The storage is full: the next load of a page asks anew.
      }
    },
  };
}

/** The browser may not allow scripts to store anything. */
function storage(): Store | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}
