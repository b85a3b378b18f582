import { timeNow } from "../../api/server_time.ts";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Trading } from "../../api/market_stream.ts";
import { formatCount, formatDateTime, formatPrice } from "../../format.ts";
import { useAfterTrades } from "../../hooks/use_after_trades.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useEvery } from "../../hooks/use_every.ts";
import { Choice } from "../choice.tsx";
import { Show } from "../states.tsx";
import { ChartTable } from "./chart_table.tsx";
import { LineChart } from "./line_chart.tsx";
import { joinedTrades, priceAt, priceLine, volumeBars } from "./price_line.ts";
import type { Axis, TimedPrice } from "./price_line.ts";
import { describeChart, firstRange, MINUTE_MS, rangeOptions, startOf } from "./price_range.ts";
import type { Range } from "./price_range.ts";
import { readHistory } from "./read_history.ts";
import type { RangeHistory } from "./read_history.ts";

/** The candles have trades that a page without a stream, or a hidden one, did not see. */
const READ_EVERY_MS = 5 * 60_000;
/** More than a line has points on the screen. */
const MOST_TRADES = 1000;

interface MarketChartProps {
  marketId: string;
  createdAt: string;
  /** When the market was resolved: the chart ends then. */
  endedAt: string | undefined;
  /** The newest trades, the newest first. */
  trades: Trading["recentTrades"] | undefined;
}

/** The prices of a market's trades over time, and their volume. */
export function MarketChart(props: MarketChartProps): JSX.Element {
  const { marketId, createdAt, endedAt, trades } = props;
  const end = endedAt === undefined ? undefined : Date.parse(endedAt);
  const [range, setRange] = useState<Range>(() =>
    firstRange(Date.parse(createdAt), end ?? timeNow()),
  );
  const known = useRef<RangeHistory>(undefined);
  const history = useAsked<RangeHistory>(
    () => readHistory({ marketId, range, to: end ?? timeNow(), before: known.current }),
    [marketId, range, end],
  );
  known.current = history.data;
  useEvery(READ_EVERY_MS, history.askAgain);
  // The stream does not say to which volume a trade adds.
  useAfterTrades(trades, history.askAgain);
  const seen = useSeenTrades(trades);
  return (
    <section class="panel chart-panel" aria-labelledby="chart-title">
      <div class="panel-head">
        <h2 id="chart-title">Price of YES over time</h2>
        <Choice label="Period" value={range} options={rangeOptions} onChange={setRange} />
      </div>
      <div class="chart-box">
        <Show asked={history} lines={7}>
          {(read) => (
            <History history={read} trades={seen} begin={Date.parse(createdAt)} end={end} />
          )}
        </Show>
      </div>
    </section>
  );
}

interface HistoryProps {
  history: RangeHistory;
  trades: TimedPrice[];
  /** When the market was made. */
  begin: number;
  end: number | undefined;
}

function History({ history, trades, begin, end }: HistoryProps): JSX.Element {
  const [now, setNow] = useState(timeNow);
  useEvery(MINUTE_MS, () => {
    setNow(timeNow());
  });
  const { range, candles } = history;
  const to = end ?? Math.max(now, history.readAt, trades.at(-1)?.time ?? 0);
  // The interval of the first trade may have begun before there was a market.
  const first = Math.max(candles[0]?.start ?? trades[0]?.time ?? to, begin);
  const axis: Axis = { from: startOf(range, to) ?? Math.min(first, to), to };
  const line = priceLine(history, trades, axis);
  const label = describeChart(
    range,
    line.map(({ price }) => price),
  );
  if (line.length === 0) return <p class="chart-empty muted">{label}.</p>;
  const volumes = volumeBars(history, axis, begin);
  const rows = (): string[][] => {
    const times = volumes.map((bar) => [bar.to, formatCount(bar.volume)] as const);
    return [[axis.from, "–"] as const, ...times]
      .map(([time, volume]) => [
        formatDateTime(new Date(time).toISOString()),
        formatPrice(priceAt(line, time) ?? null),
        volume,
      ])
      .reverse();
  };
  return (
    <>
      <LineChart axis={axis} lines={[{ points: line, mark: "" }]} volumes={volumes} label={label} />
      <ChartTable heads={["Until", "Price of YES", "Shares traded"]} rows={rows} />
    </>
  );
}

/** The trades that this page saw, oldest first. */
function useSeenTrades(trades: MarketChartProps["trades"]): TimedPrice[] {
  const seen = useRef<TimedPrice[]>([]);
  const newest = (trades ?? [])
    .map(({ price, createdAt }) => ({ price, time: Date.parse(createdAt) }))
    .reverse();
  seen.current = joinedTrades(seen.current, newest).slice(-MOST_TRADES);
  return seen.current;
}
