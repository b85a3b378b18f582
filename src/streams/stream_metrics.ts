import { Counter, Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { StreamCounts } from "./process_streams.ts";

/** Shows the figures of the streams. */
export function gaugeStreams(registry: Registry, countsNow: () => StreamCounts): void {
  const registers = [registry];
  new Gauge({
    name: "pgmarkets_listeners",
    help: "1 while the process listens for events of the database",
    registers,
    collect() {
      this.set(countsNow().listeners);
    },
  });
  new Gauge({
    name: "pgmarkets_streams",
    help: "Event streams that are open",
    labelNames: ["kind"],
    registers,
    collect() {
      const { marketStreams, changeStreams, userStreams } = countsNow();
      this.set({ kind: "market" }, marketStreams);
      this.set({ kind: "changes" }, changeStreams);
      this.set({ kind: "user" }, userStreams);
    },
  });
  new Counter({
    name: "pgmarkets_streams_dropped_total",
    help: "Clients that were dropped because they did not take what they were sent",
    registers,
    collect() {
      this.reset();
      this.inc(countsNow().dropped);
    },
  });
}
