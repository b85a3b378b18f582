/** Of an answer as JSON. A statement of 20,000 rows has about 4,000,000. */
export const MAX_ANSWER_BYTES = 10_000_000;

/**
 * A value as JSON, or undefined if that has more bytes than this. The value is measured first: to make
 * a long text keeps the process busy, and many fields may share one text.
 */
export function jsonWithin(most: number, value: object): string | undefined {
  let left = most;

  function fits(part: unknown): boolean {
    left -= 1;
    if (typeof part === "string") left -= part.length;
    if (left < 0) return false;
    if (typeof part !== "object" || part === null) return true;
    if (Array.isArray(part)) return part.every(fits);
    return Object.keys(part).every((name) => {
      left -= name.length;
      return fits((part as Record<string, unknown>)[name]);
    });
  }

  if (!fits(value)) return undefined;
  const json = JSON.stringify(value);
  return Buffer.byteLength(json) > most ? undefined : json;
}
