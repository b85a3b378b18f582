import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootDirectory } from "../helpers/repository.ts";

/** Prometheus' own tool evaluates the alert rules on metrics that were scraped. */

export const rulesFile = join(rootDirectory, "deploy/prometheus/alerts.yml");
export const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

/** The series of one scrape: as they are printed, with their values. */
export type Scrape = Map<string, number>;

/** Reads the text format of Prometheus; Node's own metrics are left out. */
export function readScrape(text: string): Scrape {
  const lines = text.split("\n").filter((line) => line.startsWith("pgmarkets_"));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(" ");
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

export interface Course {
  before: Scrape;
  after: Scrape;
  /** Whether the change between the two goes on, once in each step. Else `after` stays. */
  continues?: boolean;
}

const STEP_S = 15;
const STEPS_BEFORE = 60;
/** The longest window of a rate in the rules. */
const RATE_S = 300;

/** A rule, with its text. */
export interface Rule {
  name: string;
  forSeconds: number;
  text: string;
}

/**
 * Whether the alert of a rule fires in the course of its `forSeconds` (and a minute) after the change,
 * and did not before.
 */
export function firesAfter({ name: alert, forSeconds, text }: Rule, course: Course): boolean {
  const { before, after, continues = false } = course;
  // A rate of something that goes on is whole after its window.
  const lasts = STEP_S * Math.ceil(forSeconds / STEP_S) + (continues ? RATE_S : 0) + 4 * STEP_S;
  const steps = lasts / STEP_S + 4;
  const isRead = (name: string) => text.includes(name.replace(/\{.*/, ""));
  const names = [...new Set([...before.keys(), ...after.keys()])].filter(isRead);
  const series = names.map((name) => {
    const [from, to] = [before.get(name), after.get(name)];
    const first = from === undefined ? `_x${STEPS_BEFORE}` : `${from}+0x${STEPS_BEFORE - 1}`;
    const growth = continues && to !== undefined ? to - (from ?? 0) : 0;
    const then = to === undefined ? "stale" : `${to}${growth < 0 ? "" : "+"}${growth}x${steps}`;
    return { series: withLabels(name), values: `${first} ${then}` };
  });
  const changedAt = STEPS_BEFORE * STEP_S;
  const firing = (at: number, count: number) => ({
    expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0`,
    eval_time: `${at}s`,
    exp_samples: count === 0 ? [] : [{ labels: "{}", value: count }],
  });
  // promtool evaluates every rule of a file in each step, so the file has this one.
  const alone = `groups:\n  - name: pgmarkets\n    rules:\n      - alert: ${text}`;
  return test(alone, {
    evaluation_interval: `${STEP_S}s`,
    tests: [
      {
        interval: `${STEP_S}s`,
        input_series: series,
        promql_expr_test: [firing(changedAt - STEP_S, 0), firing(changedAt + lasts, 1)],
      },
    ],
  });
}

function withLabels(name: string): string {
  const labels = 'job="pgmarkets",instance="one"';
  return name.endsWith("}") ? `${name.slice(0, -1)},${labels}}` : `${name}{${labels}}`;
}

function test(rules: string, file: object): boolean {
  const directory = mkdtempSync(join(tmpdir(), "pgmarkets-promtool-"));
  try {
    const path = join(directory, "test.yml");
    writeFileSync(join(directory, "rules.yml"), rules);
    writeFileSync(path, JSON.stringify({ rule_files: ["rules.yml"], ...file }));
    const { status, stdout, stderr } = spawnSync("promtool", ["test", "rules", path], {
      encoding: "utf8",
    });
    if (status !== 0) console.error(`${stdout}${stderr}`);
    return status === 0;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
