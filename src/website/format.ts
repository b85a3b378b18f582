/** How numbers and times are shown. */

import { timeNow } from "./api/server_time.ts";

/** The language of the pages, also where the browser has another. */
export const LANGUAGE = "en-IE";

const euros = new Intl.NumberFormat(LANGUAGE, { style: "currency", currency: "EUR" });
const wholeEuros = new Intl.NumberFormat(LANGUAGE, {
  style: "currency",
  currency: "EUR",
  maximumFractionDigits: 0,
});
const wholeNumbers = new Intl.NumberFormat(LANGUAGE);
const signed = new Intl.NumberFormat(LANGUAGE, {
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

const day = { day: "numeric", month: "short" } as const;
const date = { ...day, year: "numeric" } as const;
const minutes = { hour: "2-digit", minute: "2-digit" } as const;
const zone = { timeZoneName: "short" } as const;

const dateTimes = new Intl.DateTimeFormat(LANGUAGE, { ...date, ...minutes, ...zone });
const zonedDates = new Intl.DateTimeFormat(LANGUAGE, { ...date, ...zone });
const dates = new Intl.DateTimeFormat(LANGUAGE, date);
const days = new Intl.DateTimeFormat(LANGUAGE, day);
const utcDays = new Intl.DateTimeFormat(LANGUAGE, { ...date, timeZone: "UTC" });
const years = new Intl.DateTimeFormat(LANGUAGE, { year: "numeric" });
const hours = new Intl.DateTimeFormat(LANGUAGE, minutes);
const times = new Intl.DateTimeFormat(LANGUAGE, { ...minutes, second: "2-digit" });

/** Date and time in the reader's zone, with its name: 24 Nov 2026, 14:05 CET */
export function formatDateTime(iso: string): string {
  return dateTimes.format(new Date(iso));
}

/** The date in the reader's zone, with its name. */
export function formatDate(iso: string): string {
  return zonedDates.format(new Date(iso));
}

/** A UTC day, such as 2026-11-24, or that of a time: 24 Nov 2026 */
export function formatUtcDay(day: string): string {
  return utcDays.format(new Date(day));
}

/**
 * The name of the reader's zone at some times, for the head of a column or an axis: CET, or CET and
 * CEST if the clock is changed between them.
 */
export function zoneNames(times: readonly Date[]): string {
  const names = times.map((time) => {
    const parts = dateTimes.formatToParts(time);
    return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  });
  return [...new Set(names)].join(" and ");
}

/** A mark on the time axis of a chart. */
export function formatAxisTime(iso: string): string {
  return hours.format(new Date(iso));
}

/** A mark on the time axis of a chart where a day or a year begins. */
export function formatAxisDate(iso: string, isYear: boolean): string {
  return (isYear ? years : days).format(new Date(iso));
}

const CLOSE_MS = 2 * 86_400_000;

/** When a market closes: with the hour if that is within two days. */
export function formatClose(iso: string, now = new Date(timeNow())): string {
  const isClose = Math.abs(Date.parse(iso) - now.getTime()) < CLOSE_MS;
  return isClose ? formatDateTime(iso) : formatDate(iso);
}

const DAY_MS = 86_400_000;

/** The time with seconds in the reader's zone; the day if it is a day old, with its year if need be. */
export function formatTradeTime(iso: string, now = new Date(timeNow())): string {
  const time = new Date(iso);
  if (now.getTime() - time.getTime() < DAY_MS) return times.format(time);
  return (time.getFullYear() === now.getFullYear() ? days : dates).format(time);
}

/**
 * The cents of an amount of euros as people type it: "12", "12.5", "12,50", "€ 1,000.00", "1,000",
 * and "1.000,00" of other languages. Undefined for anything else, such as fractions of a cent, and
 * for "1.000", which may be a thousand.
 */
export function parseEuros(text: string): number | undefined {
  const amount = withoutThousandsDots(
    withoutThousandsCommas(text.trim().replace(/^€\s*|\s*€$/g, "")),
  );
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

/** As other languages write amounts. Only a comma behind the dots says for sure what these are. */
function withoutThousandsDots(text: string): string {
  return /^\d{1,3}(\.\d{3})+,\d{1,2}$/.test(text) ? text.replaceAll(".", "") : text;
}
