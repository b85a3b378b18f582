import { formatCents, formatCount, LANGUAGE, parseEuros } from "../../format.ts";
import { uuid } from "../../paths.ts";

/** How values of the database are typed and shown. All times are UTC. */

const times = new Intl.DateTimeFormat(LANGUAGE, {
  ...{ day: "numeric", month: "short", year: "numeric" },
  ...{ hour: "2-digit", minute: "2-digit", second: "2-digit" },
  timeZone: "UTC",
});

/** 24 Nov 2026, 14:05:09 UTC; "for good" for infinity. */
export function showTime(text: string): string {
  if (text === "infinity") return "for good";
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : `${times.format(time)} UTC`;
}

/** €1,234.50 of 123450 */
export function showCents(cents: string | number): string {
  return formatCents(Number(cents));
}

/** 1,234 */
export function showCount(count: string | number): string {
  return formatCount(Number(count));
}

/** 1,234; "more than 10,000" where not all are counted. */
export function showTotal({ count, isMore }: { count: number; isMore: boolean }): string {
  return `${isMore ? "more than " : ""}${showCount(count)}`;
}

/** 1234.5 of 123450, as in a file for spreadsheets and in a field. */
export function eurosOf(cents: string | number): string {
  const text = String(cents);
  const sign = text.startsWith("-") ? "-" : "";
  const digits = text.replace("-", "").padStart(3, "0");
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The cents of an amount as people type it, below zero too; undefined for anything else. */
export function centsOf(text: string): number | undefined {
  const trimmed = text.trim();
  const isNegative = /^[-−]/.test(trimmed);
  const cents = parseEuros(isNegative ? trimmed.slice(1) : trimmed);
  return cents === undefined || !isNegative ? cents : -cents;
}

/** The time that a field for local times has, read as UTC; undefined for no time. */
export function timeOf(text: string): string | undefined {
  const time = new Date(`${text}Z`);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Whether it is a day, as the database writes it. */
export function isDay(text: string): boolean {
  const time = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().slice(0, 10) === text;
}

/** A time as a field for local times takes it, in UTC. */
export function fieldTimeOf(text: string): string {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? "" : time.toISOString().slice(0, 16);
}

const wholeUuid = new RegExp(`^${uuid}$`);

export function isUuid(text: string): boolean {
  return wholeUuid.test(text.trim());
}

/** The least UUID of version 7 that is made at a time, in milliseconds. */
export function firstIdAt(time: number): string {
  const digits = Math.max(time, 0).toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}

/** The part of an id that tells it from others. Ids of one day begin alike. */
export function shortId(id: string): string {
  return `…${id.slice(-8)}`;
}

/** dayLimitCents of day_limit_cents */
export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** day_limit_cents of dayLimitCents */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
