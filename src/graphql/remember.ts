/** A function that is not called again for the texts that came last. */
export function rememberLast<Result>(
  most: number,
  make: (text: string) => Result,
): (text: string) => Result {
  const results = new Map<string, { result: Result }>();
  return (text) => {
    const known = results.get(text) ?? { result: make(text) };
    // A map keeps the order in which its keys came.
    results.delete(text);
    results.set(text, known);
    const [oldest] = results.keys();
    if (oldest !== undefined && results.size > most) results.delete(oldest);
    return known.result;
  };
}
