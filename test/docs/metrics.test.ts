import test from "ava";
import { createMetrics } from "../../src/metrics.ts";
import { gaugeStreams } from "../../src/streams/metrics.ts";
import { readText } from "../helpers/repository.ts";
import { fakePool } from "../http/fake_pool.ts";

/** The metrics that pages name are those that there are, with their labels. */

const { registry } = createMetrics(fakePool({ answer: () => [] }).pool);
gaugeStreams(registry, () => ({ listeners: 0, marketStreams: 0, userStreams: 0, dropped: 0 }));

interface Described {
  name: string;
  labels: string[];
}

const ours: Described[] = registry
  .getMetricsAsArray()
  .map((metric) => metric as unknown as { name: string; labelNames: string[] })
  .filter(({ name }) => name.startsWith("pgmarkets_"))
  .map(({ name, labelNames }) => ({
    name,
    labels: labelNames.filter((label) => label !== "le").sort(),
  }));

test("docs/operating.md lists the metrics with their labels", (t) => {
  const rows = [
    ...readText("docs/operating.md").matchAll(
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
