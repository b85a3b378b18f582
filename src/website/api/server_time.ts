/**
 * The time by the server's clock, for what the server has times of: a browser's clock may be wrong
 * by hours.
 */

/** An answer may be so late, or so old in a cache that does not say it. */
const TOLERATED_MS = 30_000;

let aheadMs = 0;

/** Notes by how much the server's clock is ahead of this one, as an answer says. */
export function noteServerTime(headers: Headers, now = Date.now()): void {
  const sentAt = Date.parse(headers.get("Date") ?? "");
  if (Number.isNaN(sentAt)) return;
  const ahead = sentAt + Number(headers.get("Age") ?? 0) * 1000 - now;
  aheadMs = Math.abs(ahead) > TOLERATED_MS ? ahead : 0;
}

/** The time now, in milliseconds since 1970. */
export function timeNow(): number {
  return Date.now() + aheadMs;
}
