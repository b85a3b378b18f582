import type { Sent } from "./rate_flood.ts";

/** Whether a request was limited that was due, by the times of its client's requests alone. */

/** Drill and database read the same clock; the drill's times are whole milliseconds. */
const CLOCK_MS = 2;
/** What a killed server has begun the database may still finish. */
const AFTERLIFE_MS = 1000;

/** Requests that a rolling window limited although it had room, in words. */
export function limitedByWindow(sent: Sent[], most: number, windowMs: number): string[] {
  const counted = mayBeCounted(sent);
  return limited(sent).flatMap(({ sentAt, answeredAt }) => {
    const from = sentAt - windowMs - CLOCK_MS;
    const within = counted.filter((one) => one.sentAt <= answeredAt && one.answeredAt >= from);
    if (within.length >= most) return [];
    return [`limited after at most ${within.length} requests, not ${most}, in ${windowMs} ms`];
  });
}

/** Requests that a bucket limited although it had a token, in words. */
export function limitedByBucket(sent: Sent[], burst: number, perMinute: number): string[] {
  const counted = mayBeCounted(sent);
  return limited(sent).flatMap((one) => {
    const left = leastTokens(one, counted, burst, perMinute / 60_000);
    return left < 1 ? [] : [`limited with at least ${left.toFixed(2)} tokens left`];
  });
}

/** The fewest tokens that there can have been when this request was limited. */
function leastTokens(
  { sentAt, answeredAt }: Sent,
  counted: Sent[],
  burst: number,
  perMs: number,
): number {
  let tokens = burst;
  let at = -Infinity;
  // Each took its token as late as it can have done. There are never fewer than none.
  for (const one of counted) {
    if (one.sentAt > answeredAt) continue;
    const time = Math.min(one.answeredAt, sentAt);
    if (time > at) tokens = Math.min(burst, tokens + perMs * (time - at));
    at = Math.max(at, time);
    tokens = Math.max(0, tokens - 1);
  }
  return Math.min(burst, tokens + perMs * (sentAt - at - CLOCK_MS));
}

function limited(sent: Sent[]): Sent[] {
  return sent.filter(({ outcome }) => outcome === "limited");
}

/** The others, each until the last moment at which it can have been counted, in that order. */
function mayBeCounted(sent: Sent[]): Sent[] {
  return sent
    .filter(({ outcome }) => outcome !== "limited")
    .map((one) =>
      one.outcome === "unknown" ? { ...one, answeredAt: one.answeredAt + AFTERLIFE_MS } : one,
    )
    .sort((one, other) => one.answeredAt - other.answeredAt);
}
