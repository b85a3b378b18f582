import { formatAxisDate, formatAxisTime, zoneNames } from "../../format.ts";
import type { Axis } from "./price_line.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./price_range.ts";

/** Where a time is on an axis of a width: as far from the left as it is from the beginning. */
export function xOf(time: number, { from, to }: Axis, width: number): number {
  return to === from ? width : ((time - from) / (to - from)) * width;
}

/** A mark on the time axis. */
export interface Tick {
  time: number;
  label: string;
}

interface Step {
  /** About how long it is. */
  ms: number;
  /** The whole minute, hour, day or month of the reader's clock that is `count` steps after `day`. */
  at: (day: Date, count: number) => Date;
}

const partsOf = (day: Date): [number, number, number] => [
  day.getFullYear(),
  day.getMonth(),
  day.getDate(),
];

const minutes = (size: number): Step => ({
  ms: size * MINUTE_MS,
  at: (day, count) => new Date(...partsOf(day), 0, size * count),
});
const days = (size: number): Step => ({
  ms: size * DAY_MS,
  at: (day, count) => {
    const [year, month, date] = partsOf(day);
    return new Date(year, month, date + size * count);
  },
});
const months = (size: number): Step => ({
  ms: size * 30 * DAY_MS,
  at: (day, count) => new Date(day.getFullYear(), size * count, 1),
});

const LONGEST = months(60);

const STEPS: Step[] = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map(minutes),
  ...[1, 2, 3, 7, 14].map(days),
  ...[1, 3, 6, 12].map(months),
];

/** Marks at whole minutes, hours, days or months of the reader's clock, `most` at most. */
export function ticksOf({ from, to }: Axis, most: number): Tick[] {
  const step = STEPS.find(({ ms }) => (to - from) / ms < most) ?? LONGEST;
  const times: number[] = [];
  const day = new Date(from);
  for (let count = 0; ; count++) {
    const time = step.at(day, count).getTime();
    if (time > to) break;
    // An hour that the clock leaves out is that after it.
    if (time >= from && time > (times.at(-1) ?? -Infinity)) times.push(time);
  }
  return times.map((time) => ({ time, label: labelOf(time, step) }));
}

function labelOf(time: number, { ms }: Step): string {
  const date = new Date(time);
  const iso = date.toISOString();
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  if (ms <= 12 * HOUR_MS && !isMidnight) return formatAxisTime(iso);
  return formatAxisDate(iso, ms > 14 * DAY_MS && date.getMonth() === 0);
}

/** The reader's zone at the times of an axis. */
export function zoneOf({ from, to }: Axis): string {
  return zoneNames([new Date(from), new Date(to)]);
}
