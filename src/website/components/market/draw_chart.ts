import type { IPriceLine, TickMarkType as MarkType, UTCTimestamp } from "lightweight-charts";
import { formatAxisDate, formatAxisTime, formatDateTime } from "../../format.ts";
import type { Bucket } from "./chart_buckets.ts";
import { stepsOf } from "./chart_steps.ts";

/** A chart on the page. */
export interface DrawnChart {
  /** Shows these prices. Each bucket is as wide as the others. */
  show: (buckets: Bucket[]) => void;
  remove: () => void;
}

/** Makes a chart of prices. The library is loaded only where a chart is shown. */
export async function drawChart(element: HTMLElement): Promise<DrawnChart> {
  const { AreaSeries, ColorType, createChart, LineStyle, LineType, TickMarkType } =
    await import("lightweight-charts");
  const colour = (name: string): string => colourOf(element, name);
  // The library takes its days as those of UTC, so it gets times that are later or earlier by the
  // reader's zone. One difference for all of them: an hour that is put back must not come twice.
  const shiftMs = -new Date().getTimezoneOffset() * 60_000;
  const shifted = (time: number): UTCTimestamp => ((time + shiftMs) / 1000) as UTCTimestamp;
  const isoOf = (time: unknown): string => new Date(Number(time) * 1000 - shiftMs).toISOString();
  const chart = createChart(element, {
    autoSize: true,
    layout: {
      background: { type: ColorType.Solid, color: colour("--surface") },
      textColor: colour("--muted"),
      fontFamily: getComputedStyle(element).fontFamily,
      // It needs styles that the Content-Security-Policy forbids; /help names the library.
      attributionLogo: false,
    },
    grid: { vertLines: { visible: false }, horzLines: { visible: false } },
    rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.2, bottom: 0.2 } },
    timeScale: {
      ...{ borderVisible: false, timeVisible: true, secondsVisible: false, minBarSpacing: 0.01 },
      tickMarkFormatter: (time: unknown, type: MarkType) =>
        type === TickMarkType.Time || type === TickMarkType.TimeWithSeconds
          ? formatAxisTime(isoOf(time))
          : formatAxisDate(isoOf(time), type === TickMarkType.Year),
    },
    localization: {
      priceFormatter: (price: number) => `${Math.round(price)}%`,
      timeFormatter: (time: unknown) => formatDateTime(isoOf(time)),
      // The library's own steps lie between two per cents, too: lines of ours stand in their place.
      tickmarksPriceFormatter: (prices: number[]) => prices.map(() => ""),
    },
    handleScroll: false,
    handleScale: false,
  });
  let steps = [0, 100];
  let lines: IPriceLine[] = [];
  const series = chart.addSeries(AreaSeries, {
    lineColor: colour("--accent"),
    lineWidth: 2,
    lineType: LineType.WithSteps,
    topColor: colour("--accent-faint"),
    bottomColor: "transparent",
    priceLineVisible: false,
    autoscaleInfoProvider: () => ({ priceRange: { minValue: steps[0], maxValue: steps.at(-1) } }),
    priceFormat: { type: "custom", minMove: 1, formatter: (price: number) => `${price}%` },
  });
  return {
    show: (buckets) => {
      const prices = buckets.flatMap(({ price }) => price ?? []);
      steps = stepsOf(prices);
      for (const line of lines) series.removePriceLine(line);
      lines = steps.map((price) =>
        series.createPriceLine({
          ...{ price, color: colour("--line"), lineWidth: 1, lineStyle: LineStyle.Solid },
          // The end of the line has its own label.
          axisLabelVisible: price !== prices.at(-1),
          ...{ axisLabelColor: colour("--surface"), axisLabelTextColor: colour("--muted") },
        }),
      );
      series.setData(
        buckets.map(({ time, price }) => ({
          time: shifted(time),
          ...(price !== undefined && { value: price }),
        })),
      );
      chart.timeScale().fitContent();
    },
    remove: () => {
      chart.remove();
    },
  };
}

/** What a colour token stands for in the present theme, as red, green and blue. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
