import { timeNow } from "../../api/server_time.ts";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import type { Result } from "../../api/result.ts";
import type { AccountDay } from "../../api/types.ts";
import { formatCents, formatUtcDay } from "../../format.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useEvery } from "../../hooks/use_every.ts";
import { saveFile } from "../../save_file.ts";
import { ChartTable } from "../chart/chart_table.tsx";
import { LineChart } from "../chart/line_chart.tsx";
import { LineSample } from "../chart/line_sample.tsx";
import { DAY_MS, HOUR_MS } from "../chart/price_range.ts";
import { moneyScale } from "../chart/scale.ts";
import { valueCsv, valueLines, valueOf } from "../chart/value_lines.ts";
import { Choice } from "../choice.tsx";
import { Show } from "../states.tsx";

const periods = [
  { value: "30", label: "30 d" },
  { value: "90", label: "90 d" },
  { value: "365", label: "1 y" },
] as const;

type Period = (typeof periods)[number]["value"];

/** What the account was worth at the end of each day, beside what was paid in. */
export function ValueChart(): JSX.Element {
  const [period, setPeriod] = useState<Period>("30");
  const days = useAsked(() => readDays(Number(period)), [period]);
  // There is a new day after midnight.
  useEvery(HOUR_MS, days.askAgain);
  return (
    <section class="panel chart-panel" aria-labelledby="value-title">
      <div class="panel-head">
        <h2 id="value-title">Account value by day</h2>
        <Choice label="Days" value={period} options={periods} onChange={setPeriod} />
      </div>
      <div class="chart-box value-box">
        <Show asked={days} lines={7}>
          {(read) =>
            read.length === 0 ? (
              <p class="chart-empty muted">
                The first day appears here soon after it has ended in UTC.
              </p>
            ) : (
              <Days days={read} />
            )
          }
        </Show>
      </div>
    </section>
  );
}

function Days({ days }: { days: AccountDay[] }): JSX.Element {
  const { axis, value, deposits } = valueLines(days);
  const last = days.at(-1);
  const cents = days.map(valueOf);
  const label =
    `Account value by day: from ${formatCents(cents[0] ?? 0)} to ${formatCents(cents.at(-1) ?? 0)}, ` +
    `paid in ${formatCents(last?.depositsCents ?? 0)}`;
  const rows = (): string[][] =>
    days
      .map((day) => [
        formatUtcDay(day.day),
        ...[valueOf(day), day.balanceCents, day.exitCents, day.depositsCents].map(formatCents),
      ])
      .reverse();
  return (
    <>
      <LineChart
        axis={axis}
        lines={[
          { points: value, mark: "" },
          { points: deposits, mark: "" },
        ]}
        label={label}
        scale={moneyScale}
        timeWords={(time) => formatUtcDay(new Date(Math.min(time, axis.to - 1)).toISOString())}
        caption="At the end of each UTC day."
      />
      <ul class="chart-key">
        <Key line={0}>Account value: cash, and shares at the best bid</Key>
        <Key line={1}>Paid in, less paid out</Key>
      </ul>
      <ChartTable heads={["Day (UTC)", "Value", "Cash", "Shares", "Paid in"]} rows={rows} />
      <button
        type="button"
        class="button button-small"
        onClick={() => {
          saveFile(new Blob([valueCsv(days)], { type: "text/csv" }), "account-value.csv");
        }}
      >
        Save as CSV
      </button>
    </>
  );
}

function Key({ line, children }: { line: number; children: string }): JSX.Element {
  return (
    <li>
      <LineSample line={line} />
      <span>{children}</span>
    </li>
  );
}

async function readDays(count: number): Promise<Result<AccountDay[]>> {
  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const now = timeNow();
  const query = { from: dayOf(now - count * DAY_MS), to: dayOf(now - DAY_MS) };
  const result = await resultOf(ownApi.GET("/api/account/value", { params: { query } }));
  return result.ok ? { ok: true, data: result.data.data } : result;
}
