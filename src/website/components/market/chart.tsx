import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { publicApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useEvery } from "../../hooks/use_every.ts";
import { isDark } from "../../theme.ts";
import { Choice } from "../choice.tsx";
import { Failed } from "../failed.tsx";
import { Show } from "../states.tsx";
import { bucketsOf } from "./chart_buckets.ts";
import type { TimedPrice } from "./chart_buckets.ts";
import { drawChart } from "./draw_chart.ts";
import type { DrawnChart } from "./draw_chart.ts";
import { axisOf, candlesQuery, describeChart, rangeOptions } from "./price_range.ts";
import type { Range } from "./price_range.ts";

/** The candles have trades that a page without a stream, or a hidden one, did not see. */
const READ_EVERY_MS = 5 * 60_000;
/** The shortest buckets are as long. */
const MOVE_EVERY_MS = 60_000;

interface ChartProps {
  marketId: string;
  /** The latest trade, which moves the end of the line. */
  latest: { price: number; createdAt: string } | undefined;
}

interface Read {
  range: Range;
  prices: TimedPrice[];
}

/** The prices of trades over time. */
export function Chart({ marketId, latest }: ChartProps): JSX.Element {
  const [range, setRange] = useState<Range>("1w");
  const candles = useAsked<Read>(async () => {
    const params = { path: { id: marketId }, query: candlesQuery(range, Date.now()) };
    const result = await resultOf(publicApi.GET("/api/v1/markets/{id}/candles", { params }));
    if (!result.ok) return result;
    const prices = result.data.data.map(({ start, close }) => ({
      time: Date.parse(start),
      price: close,
    }));
    return { ok: true, data: { range, prices } };
  }, [marketId, range]);
  useEvery(READ_EVERY_MS, candles.askAgain);
  return (
    <section class="panel chart-panel" aria-labelledby="chart-title">
      <div class="panel-head">
        <h2 id="chart-title">Price of YES over time</h2>
        <Choice label="Period" value={range} options={rangeOptions} onChange={setRange} />
      </div>
      <div class="chart-box">
        <Show asked={candles} lines={7}>
          {(read) => <Line {...read} latest={latest} />}
        </Show>
      </div>
    </section>
  );
}

interface LineProps extends Read {
  latest: ChartProps["latest"];
}

function Line({ range, prices, latest }: LineProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [chart, setChart] = useState<DrawnChart>();
  const [hasFailed, setFailed] = useState(false);
  const [now, setNow] = useState(() => Date.now());
  useEvery(MOVE_EVERY_MS, () => {
    setNow(Date.now());
  });
  const traded = useTradesAfter(prices, latest);
  const all = [...prices, ...traded];
  const axis = axisOf(range, now);
  const { from } = axis;
  // Without a trade since the axis begins, the last price held all along.
  const isBefore = from !== undefined && all.every(({ time }) => time < from);
  const before = isBefore ? latest?.price : undefined;
  const buckets = bucketsOf(all, { ...axis, now, before });
  const known = buckets.flatMap(({ price }) => price ?? []);
  const isEmpty = known.length === 0;
  const colours = isDark.value;

  useEffect(() => {
    let isGone = false;
    let drawn: DrawnChart | undefined;
    const element = box.current;
    if (element === null || isEmpty || hasFailed) return undefined;
    void drawChart(element).then(
      (ready) => {
        drawn = ready;
        if (isGone) ready.remove();
        else setChart(ready);
      },
      () => {
        setFailed(true);
      },
    );
    return () => {
      isGone = true;
      drawn?.remove();
      setChart(undefined);
    };
  }, [isEmpty, colours, hasFailed]);

  useEffect(() => {
    chart?.show(buckets);
  }, [chart, JSON.stringify(buckets)]);

  if (hasFailed) {
    return (
      <Failed
        problem={{ status: 0, error: "" }}
        onRetry={() => {
          setFailed(false);
        }}
      />
    );
  }
  const label = describeChart(range, known);
  if (isEmpty) return <p class="chart-empty muted">{label}.</p>;
  return <div class="chart" role="img" aria-label={label} ref={box} />;
}

/** The trades that this page saw since the prices were read, oldest first. */
function useTradesAfter(prices: TimedPrice[], latest: ChartProps["latest"]): TimedPrice[] {
  const seen = useRef<{ prices: TimedPrice[]; trades: TimedPrice[] }>({ prices, trades: [] });
  if (seen.current.prices !== prices) seen.current = { prices, trades: [] };
  const { trades } = seen.current;
  if (latest !== undefined) {
    const time = Date.parse(latest.createdAt);
    // The bucket of the last candle may have begun earlier, and its trades are older.
    const last = trades.at(-1)?.time ?? prices.at(-1)?.time ?? -Infinity;
    if (time >= last) trades.push({ time, price: latest.price });
  }
  return trades;
}
