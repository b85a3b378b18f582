import type { IPriceLine, UTCTimestamp } from "lightweight-charts";
import { stepsOf } from "./chart_steps.ts";

/** A chart on the page. */
export interface DrawnChart {
  /** Adds the latest price to the end of the line. */
  extend: (time: string, price: number) => void;
  remove: () => void;
}

/** Draws a line of chances. The library is loaded only where a chart is shown. */
export async function drawChart(
  element: HTMLElement,
  points: { time: string; price: number }[],
): Promise<DrawnChart> {
  const { AreaSeries, ColorType, createChart, LineStyle, LineType } =
    await import("lightweight-charts");
  const colour = (name: string): string => colourOf(element, name);
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
    timeScale: { borderVisible: false, timeVisible: true, secondsVisible: false },
    localization: {
      priceFormatter: (price: number) => `${Math.round(price)}%`,
      // The library's own steps lie between two per cents, too: lines of ours stand in their place.
      tickmarksPriceFormatter: (prices: number[]) => prices.map(() => ""),
    },
    handleScroll: false,
    handleScale: false,
  });
  const accent = colour("--accent");
  const prices = points.map(({ price }) => price);
  let steps = stepsOf(prices);
  let lines: IPriceLine[] = [];
  const series = chart.addSeries(AreaSeries, {
    lineColor: accent,
    lineWidth: 2,
    lineType: LineType.WithSteps,
    topColor: colour("--accent-faint"),
    bottomColor: "transparent",
    priceLineVisible: false,
    autoscaleInfoProvider: () => ({ priceRange: { minValue: steps[0], maxValue: steps.at(-1) } }),
    priceFormat: { type: "custom", minMove: 1, formatter: (price: number) => `${price}%` },
  });
  series.setData(points.map(({ time, price }) => ({ time: secondsOf(time), value: price })));
  chart.timeScale().fitContent();
  const drawSteps = (): void => {
    for (const line of lines) series.removePriceLine(line);
    lines = steps.map((price) =>
      series.createPriceLine({
        ...{ price, color: colour("--line"), lineWidth: 1, lineStyle: LineStyle.Solid },
        // The end of the line has its own label.
        axisLabelVisible: price !== prices.at(-1),
        ...{ axisLabelColor: colour("--surface"), axisLabelTextColor: colour("--muted") },
      }),
    );
  };
  drawSteps();
  let last = secondsOf(points.at(-1)?.time ?? "1970-01-01");
  return {
    extend: (time, price) => {
      const seconds = secondsOf(time);
      if (seconds < last) return;
      last = seconds;
      prices.push(price);
      steps = stepsOf(prices);
      drawSteps();
      series.update({ time: seconds, value: price });
    },
    remove: () => {
      chart.remove();
    },
  };
}

/** The library shows times as UTC: it is given the reader's hours as if they were that. */
function secondsOf(iso: string): UTCTimestamp {
  const time = new Date(iso);
  return (Math.floor(time.getTime() / 1000) - time.getTimezoneOffset() * 60) as UTCTimestamp;
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
