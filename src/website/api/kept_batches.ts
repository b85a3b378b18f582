import { keptStore } from "./kept_store.ts";
import type { Store } from "./kept_store.ts";
import type { Result } from "./result.ts";

interface KeptBatchesOptions<Value> {
  /** Names the answers in the storage. */
  name: string;
  /** How long an answer is given again. */
  keptMs: number;
  /** Of one request. */
  most: number;
  /** The answers about these ids, which are sorted. */
  ask: (ids: string[]) => Promise<Result<ReadonlyMap<string, Value>>>;
  store?: Store | undefined;
}

interface KeptBatches<Value> {
  /** The answers about these ids. What could not be read is missing. */
  read: (ids: string[]) => Promise<ReadonlyMap<string, Value>>;
  /** The same, of answers to questions of now. What could not be read is as it was. */
  readAnew: (ids: string[]) => Promise<ReadonlyMap<string, Value>>;
}

/** Asks about many ids by one request, and about each of them once in a while. */
export function keepBatches<Value>({
  most,
  ask,
  ...options
}: KeptBatchesOptions<Value>): KeptBatches<Value> {
  const kept = keptStore<Value>(options);
  const asking = new Map<string, Promise<void>>();

  async function read(ids: string[]): Promise<ReadonlyMap<string, Value>> {
    return await answers(
      ids,
      ids.filter((id) => kept.get(id) === undefined && !asking.has(id)),
    );
  }

  /** The answers about ids, after questions about some of them. */
  async function answers(ids: string[], missing: string[]): Promise<ReadonlyMap<string, Value>> {
    const sorted = [...new Set(missing)].sort();
    for (let start = 0; start < sorted.length; start += most) {
      const part = sorted.slice(start, start + most);
      const question = askFor(part).finally(() => {
        for (const id of part) if (asking.get(id) === question) asking.delete(id);
      });
      for (const id of part) asking.set(id, question);
    }
    await Promise.all(ids.flatMap((id) => asking.get(id) ?? []));
    return new Map(
      ids.flatMap((id) => {
        const value = kept.get(id);
        return value === undefined ? [] : [[id, value] as const];
      }),
    );
  }

  async function askFor(ids: string[]): Promise<void> {
    const at = Date.now();
    const result = await ask(ids);
    if (!result.ok) return;
    for (const [id, value] of result.data) kept.set(id, value, at);
  }

  return { read, readAnew: (ids) => answers(ids, ids) };
}
