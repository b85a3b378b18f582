/**
 * What is left of the requests that this client may send, as the last answers said. Pages read less
 * often when it becomes little, because orders and cancels count in the same windows.
 */

interface Window {
  /** From 0 to 1. */
  leftShare: number;
  /** From then on every request that the answer counted has left the window. */
  until: number;
}

/** What pages read counts in these. */
const BUCKETS = new Set(["v1", "v1-auth", "v1-user"]);

/** The least time between two rounds of reads, while less than a share of a window is left. */
const PACES = [
  { below: 0.25, leastMs: 30_000 },
  { below: 0.4, leastMs: 10_000 },
  { below: 0.6, leastMs: 5000 },
];

const windows = new Map<string, Window>();

/** Notes what the headers of an answer say is left: `"v1-user";r=119` of `"v1-user";q=120;w=60`. */
export function noteQuota(headers: Headers, now = performance.now()): void {
  const left = itemsOf(headers.get("RateLimit"));
  for (const [bucket, { q, w }] of itemsOf(headers.get("RateLimit-Policy"))) {
    const r = left.get(bucket)?.r;
    if (!BUCKETS.has(bucket) || q === undefined || w === undefined || r === undefined) continue;
    windows.set(bucket, { leftShare: r / q, until: now + w * 1000 });
  }
}

/** The least time between two rounds of reads now; 0 while there is enough left. */
export function paceMs(now = performance.now()): number {
  const shares = [...windows.values()]
    .filter(({ until }) => now < until)
    .map(({ leftShare }) => leftShare);
  const least = Math.min(1, ...shares);
  return PACES.find(({ below }) => least < below)?.leastMs ?? 0;
}

/** The names of a structured list, each with its whole numbers. */
function itemsOf(list: string | null): Map<string, Record<string, number | undefined>> {
  const items = new Map<string, Record<string, number | undefined>>();
  for (const [, name, parameters] of (list ?? "").matchAll(/"([^"]*)"([^,]*)/g)) {
    const numbers = [...(parameters ?? "").matchAll(/;\s*([a-z]+)=(\d+)/g)];
    items.set(
      name ?? "",
      Object.fromEntries(numbers.map(([, key, value]) => [key ?? "", Number(value)])),
    );
  }
  return items;
}
