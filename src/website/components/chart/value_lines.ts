import { csvLine } from "../../csv.ts";
import type { AccountDay } from "../../api/types.ts";
import type { Axis, TimedPrice } from "./price_line.ts";
import { DAY_MS } from "./price_range.ts";

/** Cash, and what the shares would have been paid at the best bids. */
export function valueOf({ balanceCents, exitCents }: AccountDay): number {
  return balanceCents + exitCents;
}

/** The lines of an account in cents: each value is level for its UTC day. */
export interface ValueLines {
  axis: Axis;
  value: TimedPrice[];
  deposits: TimedPrice[];
}

/** Of one day at least, the oldest first. */
export function valueLines(days: AccountDay[]): ValueLines {
  const starts = days.map(({ day }) => Date.parse(day));
  const to = (starts.at(-1) ?? 0) + DAY_MS;
  const line = (centsOf: (day: AccountDay) => number): TimedPrice[] => {
    const points = days.map((day, at) => ({ time: starts[at] ?? to, price: centsOf(day) }));
    return [...points, { time: to, price: points.at(-1)?.price ?? 0 }];
  };
  return {
    axis: { from: starts[0] ?? to, to },
    value: line(valueOf),
    deposits: line(({ depositsCents }) => depositsCents),
  };
}

/** A file for spreadsheets, in cents. */
export function valueCsv(days: AccountDay[]): string {
  const head = ["day", "valueCents", "balanceCents", "exitCents", "depositsCents"];
  const rows = days.map((row) => [
    row.day,
    ...[valueOf(row), row.balanceCents, row.exitCents, row.depositsCents].map(String),
  ]);
  return [head, ...rows].map(csvLine).join("");
}
