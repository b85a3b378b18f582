/** How numbers and times are shown. */

const euros = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });
const wholeEuros = new Intl.NumberFormat("en-IE", {
  style: "currency",
  currency: "EUR",
  maximumFractionDigits: 0,
});
const wholeNumbers = new Intl.NumberFormat("en-IE");
const signed = new Intl.NumberFormat("en-IE", {
  style: "currency",
  currency: "EUR",
  signDisplay: "exceptZero",
});

/** €1,234.50 */
export function formatCents(cents: number): string {
  return euros.format(cents / 100);
}

/** +€1,234.50, for profits and losses. */
export function formatChange(cents: number): string {
  return signed.format(cents / 100);
}

/** How a profit or a loss is coloured. */
export function toneOf(cents: number): "gain" | "loss" | "" {
  return cents === 0 ? "" : cents > 0 ? "gain" : "loss";
}

/** €1,234, for volumes. */
export function formatVolume(cents: number): string {
  return wholeEuros.format(cents / 100);
}

/** 63¢ */
export function formatPrice(price: number | null): string {
  return price === null ? "–" : `${Math.round(price * 100) / 100}¢`;
}

/** The price of YES as a chance: 63% */
export function formatChance(price: number | null): string {
  return price === null ? "–" : `${Math.round(price)}%`;
}

/** 1,234 */
export function formatCount(count: number): string {
  return wholeNumbers.format(count);
}

/** "1 share", "20 shares" */
export function formatShares(count: number): string {
  return `${formatCount(count)} ${count === 1 ? "share" : "shares"}`;
}

/** 12.5% of a ratio of 0.125 */
export function formatRatio(ratio: number): string {
  return `${(ratio * 100).toFixed(1)}%`;
}

const dateTimes = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const days = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const times = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** Date and time in the reader's zone. */
export function formatDateTime(iso: string): string {
  return dateTimes.format(new Date(iso));
}

/** The date in the reader's zone. */
export function formatDate(iso: string): string {
  return dates.format(new Date(iso));
}

const CLOSE_MS = 2 * 86_400_000;

/** When a market closes: with the hour if that is within two days. */
export function formatClose(iso: string, now = new Date()): string {
  const isClose = Math.abs(Date.parse(iso) - now.getTime()) < CLOSE_MS;
  return isClose ? formatDateTime(iso) : formatDate(iso);
}

/** The time with seconds in the reader's zone; the day if that is not today, with its year if need be. */
export function formatTradeTime(iso: string, now = new Date()): string {
  const time = new Date(iso);
  const isToday = time.toDateString() === now.toDateString();
  if (isToday) return times.format(time);
  return (time.getFullYear() === now.getFullYear() ? days : dates).format(time);
}

/**
 * The cents of an amount of euros as people type it: "12", "12.5", "12,50", "€ 1,000.00", "1,000".
 * Undefined for anything else, such as fractions of a cent.
 */
export function parseEuros(text: string): number | undefined {
  const amount = withoutThousandsCommas(text.trim().replace(/^€\s*|\s*€$/g, ""));
  const match = /^(\d{1,12})(?:[.,](\d{1,2}))?$/.exec(amount);
  if (match === null) return undefined;
  const [, whole = "0", fraction = ""] = match;
  return Number(whole) * 100 + Number(fraction.padEnd(2, "0"));
}

/** A whole number as people type it, such as "1000" or "1,000"; undefined for anything else. */
export function parseCount(text: string): number | undefined {
  const count = withoutThousandsCommas(text.trim());
  return /^\d{1,9}$/.test(count) ? Number(count) : undefined;
}

/** As pages write amounts, with a comma before each three digits. */
function withoutThousandsCommas(text: string): string {
  return /^\d{1,3}(,\d{3})+(\.\d*)?$/.test(text) ? text.replaceAll(",", "") : text;
}
