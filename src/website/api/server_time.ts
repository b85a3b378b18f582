/**
 * The time by the server's clock, for what the server has times of: a browser's clock may be wrong
 * by hours.
 */

/** An answer may be so late, or so old in a cache that does not say it, than which none is newer. */
const LATEST_MS = 330_000;
const EARLIEST_MS = 30_000;

/** The server's time at the beginning of the page, by the newest answer. */
let beganAt = -Infinity;

/** Notes when an answer was sent. The browser's clock may be set meanwhile: another one counts. */
export function noteServerTime(headers: Headers, passedMs = performance.now()): void {
  const sentAt = Date.parse(headers.get("Date") ?? "") + Number(headers.get("Age") ?? 0) * 1000;
  if (!Number.isNaN(sentAt)) beganAt = Math.max(beganAt, sentAt - passedMs);
}

/** The time now, in milliseconds since 1970. */
export function timeNow(own = Date.now()): number {
  const ahead = beganAt + performance.now() - own;
  const isOff = Number.isFinite(ahead) && (ahead > EARLIEST_MS || ahead < -LATEST_MS);
  return isOff ? own + ahead : own;
}
