import type { JSX } from "preact";
import type { Closes } from "../../api/closes.ts";
import { formatDateTime, formatPrice } from "../../format.ts";
import { ChartTable } from "./chart_table.tsx";
import { LineChart } from "./line_chart.tsx";
import { LineSample } from "./line_sample.tsx";
import { priceAt } from "./price_line.ts";

/** As many lines as one can tell apart. */
export const MOST_LINES = 6;
const MARKS = "ABCDEF";
/** A name of so many letters stands at the end of its line itself. */
const SHORT_NAME = 14;

interface EventChartProps {
  /** The markets of an event in their order, and what each is about. */
  outcomes: { marketId: string; name: string }[];
  closes: ReadonlyMap<string, Closes>;
}

/** The prices of the first markets of an event in the last days, in one chart. */
export function EventChart({ outcomes, closes }: EventChartProps): JSX.Element {
  const shown = outcomes.slice(0, MOST_LINES);
  const areShort = shown.every(({ name }) => name.length <= SHORT_NAME);
  const named = shown.map((outcome, index) => ({
    ...outcome,
    mark: areShort ? outcome.name : MARKS.charAt(index),
    line: closes.get(outcome.marketId),
  }));
  const known = named.flatMap(({ line }) => line ?? []);
  const axis = {
    from: Math.min(...known.map(({ from }) => from)),
    to: Math.max(...known.map(({ to }) => to)),
  };
  const lines = named.map(({ mark, line }) => ({ mark, points: line?.points ?? [] }));
  const isEmpty = lines.every(({ points }) => points.length === 0);
  const last = (index: number): string => formatPrice(lines[index]?.points.at(-1)?.price ?? null);
  const label = named.map(({ name }, index) => `${name}: ${last(index)}`).join("; ");
  const rows = (): string[][] =>
    [...new Set(lines.flatMap(({ points }) => points.map(({ time }) => time)))]
      .sort((one, other) => other - one)
      .map((time) => [
        formatDateTime(new Date(time).toISOString()),
        ...lines.map(({ points }) => formatPrice(priceAt(points, time) ?? null)),
      ]);
  return (
    <section class="panel chart-panel" aria-labelledby="event-chart-title">
      <h2 id="event-chart-title">Last prices of YES over 7 days</h2>
      <div class="chart-box">
        {known.length === 0 ? null : isEmpty ? (
          <p class="chart-empty muted">No trades yet.</p>
        ) : (
          <>
            <LineChart axis={axis} lines={lines} label={`Prices of YES now: ${label}`} />
            <ul class="chart-key">
              {named.map(({ marketId, name, mark }, index) => (
                <li key={marketId}>
                  <LineSample line={index} />
                  <span>
                    {!areShort && <strong>{mark} </strong>}
                    {name}
                  </span>
                </li>
              ))}
            </ul>
            <ChartTable heads={["At", ...named.map(({ mark }) => mark)]} rows={rows} />
          </>
        )}
      </div>
    </section>
  );
}
