import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatDateTime } from "../../format.ts";
import { apart, stepPath } from "./line_path.ts";
import type { Axis, TimedPrice, VolumeBar } from "./price_line.ts";
import { priceAt } from "./price_line.ts";
import { percentScale } from "./scale.ts";
import type { Scale } from "./scale.ts";
import { ticksOf, xOf, zoneOf } from "./time_axis.ts";

const HEIGHT = 256;
const TOP = 12;
const VOLUME_HEIGHT = 36;
const AXIS_HEIGHT = 24;
/** Room for the labels at the ends of the lines, at least. */
const RIGHT = 56;
const GAP = 8;
const LABEL_HEIGHT = 15;
const TICK_WIDTH = 84;

/** A line of a chart. */
export interface ChartLine {
  points: TimedPrice[];
  /** What stands at its end; nothing where there is one line only, which has its price there. */
  mark: string;
}

interface LineChartProps {
  axis: Axis;
  lines: ChartLine[];
  /** Below the lines; no room is kept for it if undefined. */
  volumes?: VolumeBar[];
  label: string;
  scale?: Scale;
  /** How a time that is pointed at is written, and below the chart what times it has. */
  timeWords?: (time: number) => string;
  caption?: string;
}

/**
 * Values over time. A point is where its time is; a value holds until the next one. The figures of
 * the axis stand at the right side, or at the left one where the lines have marks at the right.
 */
export function LineChart(props: LineChartProps): JSX.Element {
  const { axis, lines, volumes, label, scale = percentScale } = props;
  const { timeWords = localTime, caption = `Times in ${zoneOf(axis)}.` } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [pointed, setPointed] = useState<number>();
  const values = lines.flatMap(({ points }) => points.map(({ price }) => price));
  const steps = scale.stepsOf(values);
  const areMarked = lines.some(({ mark }) => mark !== "");
  const right = Math.max(width - useRoom(box, [width, lines]), 1);
  const volumeTop = HEIGHT - AXIS_HEIGHT - (volumes === undefined ? 0 : VOLUME_HEIGHT);
  const bottom = volumeTop - 12;
  const [low = 0, high = 100] = [steps[0], steps.at(-1)];
  const x = (time: number): number => xOf(time, axis, right);
  const y = (price: number): number => bottom - ((price - low) / (high - low)) * (bottom - TOP);
  const ends = lines.flatMap(({ points, mark }, index) => {
    const last = points.at(-1);
    return last === undefined ? [] : [{ index, mark, price: last.price, y: y(last.price) }];
  });
  const labelYs = apart(
    ends.map((end) => end.y),
    { least: TOP, most: bottom, distance: LABEL_HEIGHT },
  );
  const wordsAt = (time: number): string => {
    const prices = lines.map(({ points, mark }) => {
      const words = scale.words(priceAt(points, time));
      return mark === "" ? words : `${mark} ${words}`;
    });
    return `${timeWords(time)}: ${prices.join(", ")}`;
  };
  return (
    <div class="chart">
      <div
        ref={box}
        class="chart-picture"
        role="img"
        aria-label={label}
        onPointerMove={(event) => {
          setPointed(Math.min(Math.max(event.offsetX / right, 0), 1));
        }}
        onPointerLeave={() => {
          setPointed(undefined);
        }}
      >
        {width > 0 && (
          <svg aria-hidden="true" width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`}>
            {steps.map((price) => (
              <Step
                key={price}
                label={scale.label(price)}
                {...{ right, y: y(price), endYs: areMarked ? undefined : labelYs }}
              />
            ))}
            <TimeMarks axis={axis} width={right} />
            {volumes !== undefined && (
              <Volumes {...{ volumes, x }} bottom={HEIGHT - AXIS_HEIGHT} height={VOLUME_HEIGHT} />
            )}
            {lines.map(({ points }, index) => (
              <path key={index} class={`chart-line line-${index}`} d={stepPath(points, x, y)} />
            ))}
            {ends.map((end, at) => (
              <LineEnd
                key={end.index}
                {...end}
                {...{ right, scale }}
                labelY={labelYs[at] ?? end.y}
              />
            ))}
            {pointed !== undefined && (
              <path class="chart-pointer" d={`M${pointed * right} ${TOP}V${volumeTop}`} />
            )}
          </svg>
        )}
      </div>
      <p class="hint chart-caption">
        {pointed === undefined ? (
          <>
            {caption}
            {volumes !== undefined && " Bars: shares traded."}
          </>
        ) : (
          wordsAt(axis.from + pointed * (axis.to - axis.from))
        )}
      </p>
    </div>
  );
}

interface StepProps {
  label: string;
  right: number;
  y: number;
  /** Where figures at the ends of lines stand; undefined where marks stand there. */
  endYs: number[] | undefined;
}

/** A line across, and its figure where it is free of others. */
function Step({ label, right, y, endYs }: StepProps): JSX.Element {
  return (
    <g>
      <path class="chart-grid" d={`M0 ${y}H${right}`} />
      {endYs === undefined ? (
        <text x={0} y={y - 3}>
          {label}
        </text>
      ) : (
        endYs.every((endY) => Math.abs(endY - y) >= LABEL_HEIGHT) && (
          <text class="chart-right" x={right + GAP} y={y + 4}>
            {label}
          </text>
        )
      )}
    </g>
  );
}

interface LineEndProps {
  index: number;
  mark: string;
  price: number;
  y: number;
  right: number;
  labelY: number;
  scale: Scale;
}

/** The last point of a line, with its mark or its price. */
function LineEnd({ index, mark, price, y, right, labelY, scale }: LineEndProps): JSX.Element {
  return (
    <g>
      <circle class={`line-${index}`} cx={right} cy={y} r={3} />
      <text class="chart-right chart-end" x={right + GAP} y={labelY + 4}>
        {mark === "" ? scale.label(price) : <tspan class="chart-mark">{mark}</tspan>}
      </text>
    </g>
  );
}

/** The time axis below the lines. */
function TimeMarks({ axis, width }: { axis: Axis; width: number }): JSX.Element {
  return (
    <>
      {ticksOf(axis, Math.max(width / TICK_WIDTH, 2)).map(({ time, label }) => {
        const left = xOf(time, axis, width);
        return (
          <g key={time}>
            <path class="chart-grid" d={`M${left} ${HEIGHT - AXIS_HEIGHT}v4`} />
            <text
              x={left}
              y={HEIGHT - 5}
              text-anchor={left < 24 ? "start" : left > width ? "end" : "middle"}
            >
              {label}
            </text>
          </g>
        );
      })}
    </>
  );
}

interface VolumesProps {
  volumes: VolumeBar[];
  x: (time: number) => number;
  bottom: number;
  height: number;
}

function Volumes({ volumes, x, bottom, height }: VolumesProps): JSX.Element {
  const most = Math.max(...volumes.map(({ volume }) => volume), 1);
  const bars = volumes.map(({ from, to, volume }) => {
    const top = bottom - (volume / most) * height;
    return `M${x(from).toFixed(1)} ${bottom}V${top.toFixed(1)}H${x(to).toFixed(1)}V${bottom}z`;
  });
  return <path class="chart-volume" d={bars.join("")} />;
}

const localTime = (time: number): string => formatDateTime(new Date(time).toISOString());

/**
 * How much room the labels at the right side of a chart need, in pixels. It is known before a paint,
 * and measured again when what it depends on has changed.
 */
function useRoom(box: { current: HTMLElement | null }, inputs: unknown[]): number {
  const [room, setRoom] = useState(RIGHT);
  useLayoutEffect(() => {
    const labels = box.current?.querySelectorAll<SVGTextElement>(".chart-right") ?? [];
    const widths = Array.from(labels, (label) => Math.ceil(GAP + label.getComputedTextLength()));
    setRoom(Math.max(RIGHT, ...widths));
  }, inputs);
  return room;
}

/** How wide an element is, in pixels; 0 before it is on the page. */
function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      setWidth(element.clientWidth);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, []);
  return width;
}
