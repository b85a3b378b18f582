import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { publicApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { isDark } from "../../theme.ts";
import { Choice } from "../choice.tsx";
import { Show } from "../states.tsx";
import { drawChart } from "./draw_chart.ts";
import type { DrawnChart } from "./draw_chart.ts";
import { candlesQuery, describeChart, rangeOptions } from "./price_range.ts";
import type { Range } from "./price_range.ts";

interface ChartProps {
  marketId: string;
  /** The latest trade, which moves the end of the line. */
  latest: { price: number; createdAt: string } | undefined;
}

/** The chance of YES over time. */
export function Chart({ marketId, latest }: ChartProps): JSX.Element {
  const [range, setRange] = useState<Range>("1w");
  const candles = useAsked(async () => {
    const params = { path: { id: marketId }, query: candlesQuery(range, Date.now()) };
    const result = await resultOf(publicApi.GET("/api/v1/markets/{id}/candles", { params }));
    return result.ok ? ({ ok: true, data: result.data.data } as const) : result;
  }, [marketId, range]);
  return (
    <section class="panel chart-panel" aria-labelledby="chart-title">
      <div class="panel-head">
        <h2 id="chart-title">Chance over time</h2>
        <Choice label="Period" value={range} options={rangeOptions} onChange={setRange} />
      </div>
      <Show asked={candles} lines={5}>
        {(data) => (
          <Line
            points={data.map(({ start, close }) => ({ time: start, price: close }))}
            label={describeChart(
              range,
              data.map(({ close }) => close),
            )}
            latest={latest}
          />
        )}
      </Show>
    </section>
  );
}

interface LineProps {
  points: { time: string; price: number }[];
  label: string;
  latest: ChartProps["latest"];
}

function Line({ points, label, latest }: LineProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<DrawnChart>(undefined);
  const colours = isDark.value;

  useEffect(() => {
    let isGone = false;
    let drawn: DrawnChart | undefined;
    const element = box.current;
    if (element === null || points.length === 0) return undefined;
    void drawChart(element, points).then((ready) => {
      if (isGone) ready.remove();
      else chart.current = drawn = ready;
    });
    return () => {
      isGone = true;
      drawn?.remove();
      chart.current = undefined;
    };
  }, [points.length, points[0]?.time, points.at(-1)?.time, colours]);

  useEffect(() => {
    if (latest !== undefined) chart.current?.extend(latest.createdAt, latest.price);
  }, [latest?.createdAt, latest?.price]);

  if (points.length === 0) return <p class="chart-empty muted">{label}.</p>;
  return <div class="chart" role="img" aria-label={label} ref={box} />;
}
