/**
 * Callers at the same time share one call. Its result may hold for a while longer. If the call fails,
 * it fails for all of them, and the next caller makes a new one.
 */
export function singleFlight<T>(call: () => Promise<T>, holdsForMs = 0): () => Promise<T> {
  let current: Promise<T> | undefined;
  let latest: { value: T; until: number } | undefined;

  async function callAndHold(): Promise<T> {
    const value = await call();
    latest = { value, until: performance.now() + holdsForMs };
    return value;
  }

  return async () => {
    if (latest !== undefined && performance.now() < latest.until) return latest.value;
    return await (current ??= callAndHold().finally(() => (current = undefined)));
  };
}

/** As `singleFlight`, for each key. */
export function singleFlightByKey<T>(
  call: (key: string) => Promise<T>,
): (key: string) => Promise<T> {
  const current = new Map<string, Promise<T>>();
  return (key) => {
    const begun = current.get(key) ?? call(key).finally(() => current.delete(key));
    current.set(key, begun);
    return begun;
  };
}

/** Callers that come while a call is under way share the next one, which begins after it. */
export function singleFlightAfter<T>(call: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let next: Promise<T> | undefined;

  function begin(): Promise<T> {
    next = undefined;
    const begun = call();
    const settled = (): void => {
      if (current === begun) current = undefined;
    };
    begun.then(settled, settled);
    return (current = begun);
  }

  return () => {
    if (current === undefined) return begin();
    return (next ??= current.then(begin, begin));
  };
}
