import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { version } from "./version.ts";

/** A registry with what every process shows: figures of Node, and the versions. */
export function makeRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "pgmarkets_info",
    help: "Always 1; the version of this process and of its Node",
    labelNames: ["version", "node"],
    registers: [registry],
  }).set({ version, node: process.versions.node }, 1);
  return registry;
}

/** Shows how far the clock of this process is ahead of the database's, in milliseconds if known. */
export function gaugeClockOffset(registry: Registry, offsetMs: () => number | undefined): void {
  new Gauge({
    name: "pgmarkets_clock_offset_seconds",
    help: "How far the clock of this process is ahead of the database's at least; behind: below 0",
    registers: [registry],
    collect() {
      const ms = offsetMs();
      if (ms === undefined) this.remove();
      else this.set(ms / 1000);
    },
  });
}
