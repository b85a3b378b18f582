import test from "ava";
import { pino } from "pino";
import { makeContext } from "../../src/api/context.ts";
import { asServerPools } from "../../src/database/server_pools.ts";
import { openStandbys } from "../../src/database/standbys.ts";
import { makeWorkerHealth } from "../../src/worker/health.ts";
import { makeWorkerRegistry } from "../../src/worker/serve_health.ts";
import { readText } from "../helpers/repository.ts";
import { fakePool } from "../http/fake_pool.ts";

/** The metrics that pages name are those that there are, with their labels. */

const logger = pino({ level: "silent" });
const { pool } = fakePool({ answer: () => [] });
const standbys = openStandbys({ primary: pool, pools: [], longestLagMs: 50, logger });
test.after.always("stop looking at standbys", () => standbys.close());
const { registry } = makeContext(asServerPools(pool), logger, { standbys }).metrics;

interface Described {
  name: string;
  labels: string[];
}

const ofWorkers = makeWorkerRegistry(() => makeWorkerHealth(logger));

const ours: Described[] = [registry, ofWorkers]
  .flatMap((source) => source.getMetricsAsArray())
  .map((metric) => metric as unknown as { name: string; labelNames: string[] })
  .filter(({ name }) => name.startsWith("pgmarkets_"))
  .filter(({ name }, index, all) => all.findIndex((other) => other.name === name) === index)
  .map(({ name, labelNames }) => ({
    name,
    labels: labelNames.filter((label) => label !== "le").sort(),
  }));

test("docs/operating/monitoring.md lists the metrics with their labels", (t) => {
  const rows = [
    ...readText("docs/operating/monitoring.md").matchAll(
      /^\| `(pgmarkets_\w+)` \| (.*?)\| (?:process|database) \|/gm,
    ),
  ];
  const listed = rows.map(([, name = "", labels = ""]) => ({
    name,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label).sort(),
  }));
  const byName = (one: Described, other: Described) => one.name.localeCompare(other.name);
  t.true(ours.length > 10);
  t.deepEqual(listed.sort(byName), ours.sort(byName));
});

/** A histogram is read by the names of its parts. */
const readable = new Set(
  ours.flatMap(({ name }) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]),
);

test("the dashboard reads existing metrics, and every target has an expression", (t) => {
  const dashboard = JSON.parse(readText("docs/grafana_dashboard.json"));
  const expressions: string[] = dashboard.panels.flatMap((panel: any) =>
    panel.targets.map(({ expr }: any) => String(expr)),
  );
  const used = expressions.flatMap((expression) => expression.match(/\bpgmarkets_\w+/g) ?? []);
  t.true(used.length > 20);
  t.deepEqual(
    used.filter((name) => !readable.has(name)),
    [],
  );
  const labels = expressions.flatMap((expression) =>
    [...expression.matchAll(/(?:by \(|[{,] ?)(\w+)(?=[=,)])/g)].map(([, label = ""]) => label),
  );
  const known = new Set(["le", ...ours.flatMap((metric) => metric.labels)]);
  t.deepEqual(
    labels.filter((label) => !known.has(label)),
    [],
  );
});

test("the alerts and the page use existing metrics", (t) => {
  const pages = [
    readText("docs/operating/monitoring.md"),
    readText("deploy/prometheus/alerts.yml"),
  ];
  const names = pages.join("\n").match(/\bpgmarkets_\w+/g) ?? [];
  // The cookie of the website's sessions is none, nor are the slot and a publication of a warehouse.
  const noMetrics = ["pgmarkets_session", "pgmarkets_warehouse", "pgmarkets_history"];
  const others = names.filter((name) => !readable.has(name) && !noMetrics.includes(name));
  t.deepEqual(others, []);
});
