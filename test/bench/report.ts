import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import type { Pool } from "pg";
import { median } from "./rounds.ts";

/** Of the minute before: what others do here goes into the figures. */
const [loadBefore = Number.NaN] = loadavg();

/** One line of the report. */
export interface Result {
  target: string;
  /** Rates are to be high, times and sizes are to be low. */
  unit: "1/s" | "ms" | "µs" | "KB" | "B";
  /** What ours is measured against; without it the target is a figure in the unit. */
  reference?: number[];
  ours: number[];
  /** A full run fails if the ratio, or the figure, does not reach it. */
  must: number;
  /** What the project wants to reach. */
  aim: number;
}

/** What became of a target: the better of its two marks that was reached. */
type Verdict = "aim" | "must" | "missed";

/** Whether the median of a target's rounds reached its marks. */
export function verdictOf(result: Result): Verdict {
  const { unit, must, aim } = result;
  const reached = median(judgedFigures(result));
  const reaches = (mark: number) => (unit === "1/s" ? reached >= mark : reached <= mark);
  if (reaches(aim)) return "aim";
  return reaches(must) ? "must" : "missed";
}

/** The results as a Markdown table; without verdicts if the run was not long enough for any. */
export function resultTable(results: Result[], withVerdicts: boolean): string {
  const heads = ["Target", "Reference", "Ours", "Ratio", "Must", "Aim", "Verdict"];
  const lines = results.map((result) => [
    result.target,
    ...figuresOf(result),
    withVerdicts ? verdictOf(result) : "-",
  ]);
  return markdownTable(heads, lines);
}

/** Medians, with the lowest and the highest of what is judged; then the marks. */
function figuresOf(result: Result): string[] {
  const { unit, reference, ours, must, aim } = result;
  const judged = judgedFigures(result);
  const sign = unit === "1/s" ? "≥" : "≤";
  const [lowest, highest] = [Math.min(...judged), Math.max(...judged)];
  if (reference === undefined) {
    const range = `(${format(lowest)}-${format(highest)})`;
    const marks = [must, aim].map((mark) => `${sign} ${mark} ${unit}`);
    return ["-", `${format(median(ours))} ${unit} ${range}`, "-", ...marks];
  }
  return [
    `${format(median(reference))} ${unit}`,
    `${format(median(ours))} ${unit}`,
    `${median(judged).toFixed(2)} (${lowest.toFixed(2)}-${highest.toFixed(2)})`,
    ...[must, aim].map((mark) => `${sign} ${mark}`),
  ];
}

/** A Markdown table whose columns are aligned as text, too. */
export function markdownTable(heads: string[], lines: string[][]): string {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  const format = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = format(widths.map((width) => "-".repeat(width)));
  return [format(heads), rule, ...lines.map(format)].join("\n");
}

/** What the figures depend on, beside the code. */
export async function describeConditions(pool: Pool, pgbenchVersion: string): Promise<string> {
  const { rows } = await pool.query(
    `select name, current_setting(name) as value
     from unnest($1::text[]) with ordinality as s (name, place)
     order by place`,
    [
      [
        ...["server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_compression"],
        ...["shared_buffers", "max_wal_size", "checkpoint_timeout", "autovacuum"],
      ],
    ],
  );
  const settings = rows.map(({ name, value }) => `${name} ${value}`).join(", ");
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? "unknown"})`;
  return [
    `server: ${settings}`,
    `driver: ${pgbenchVersion}, --protocol=prepared`,
    `machine: ${machine}, fdatasync ${fdatasyncMs().toFixed(2)} ms, Node ${process.version}, ` +
      `load before the run ${loadBefore.toFixed(2)}`,
  ].join("\n");
}

/** What a commit waits for at least: the median time to flush 8 KiB at the end of a file. */
function fdatasyncMs(): number {
  const directory = mkdtempSync(join(tmpdir(), "pgmarkets-fdatasync-"));
  const file = openSync(join(directory, "file"), "w");
  const page = Buffer.alloc(8192);
  const times = Array.from({ length: 200 }, () => {
    writeSync(file, page);
    const began = performance.now();
    fdatasyncSync(file);
    return performance.now() - began;
  });
  closeSync(file);
  rmSync(directory, { recursive: true });
  return median(times);
}

/** What the marks of a target are compared with, for each round. */
function judgedFigures({ reference, ours }: Result): number[] {
  if (reference === undefined) return ours;
  return ours.map((figure, round) => figure / (reference[round] ?? Number.NaN));
}

function format(figure: number): string {
  return figure < 100
    ? figure.toPrecision(3)
    : Math.round(figure).toLocaleString("en", { useGrouping: true });
}
