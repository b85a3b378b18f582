/**
 * The time by the server's clock, for what the server has times of: a browser's clock may be wrong
 * by hours.
 */

/** An answer may be so late. */
const TOLERATED_MS = 30_000;

/** The server's clock is ahead of this one by no less. */
let aheadMs = -Infinity;

/**
 * Notes when an answer was sent. Some come late, or out of a cache that does not say how old they
 * are: the newest tells the time.
 */
export function noteServerTime(headers: Headers, now = Date.now()): void {
  const sentAt = Date.parse(headers.get("Date") ?? "");
  if (Number.isNaN(sentAt)) return;
  aheadMs = Math.max(aheadMs, sentAt + Number(headers.get("Age") ?? 0) * 1000 - now);
}

/** The time now, in milliseconds since 1970. */
export function timeNow(): number {
  const isOff = Number.isFinite(aheadMs) && Math.abs(aheadMs) > TOLERATED_MS;
  return Date.now() + (isOff ? aheadMs : 0);
}
