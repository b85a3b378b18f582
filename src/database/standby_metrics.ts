import { Counter, Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Standbys } from "./standbys.ts";

/** Shows how the standbys for reads stand, and who answered the reads. */
export function gaugeStandbys(registry: Registry, standbys: Standbys): void {
  const registers = [registry];
  new Gauge({
    name: "pgmarkets_standby_in_use",
    help: "1 while the standby answers reads; by its place in READ_DATABASE_URL, from 1",
    labelNames: ["standby"],
    registers,
    collect() {
      for (const { number, status } of standbys.figures()) {
        this.set({ standby: number }, status === "in use" ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: "pgmarkets_standby_behind_bytes",
    help: "WAL of the primary that the standby has not replayed; absent while it does not answer",
    labelNames: ["standby"],
    registers,
    collect() {
      this.reset();
      for (const { number, behindBytes } of standbys.figures()) {
        if (behindBytes !== undefined) this.set({ standby: number }, behindBytes);
      }
    },
  });
  new Counter({
    name: "pgmarkets_public_reads_total",
    help: "Public reads, by who answered: the number of a standby, or primary",
    labelNames: ["answered_by"],
    registers,
    collect() {
      this.reset();
      this.inc({ answered_by: "primary" }, standbys.primaryReads());
      for (const { number, reads } of standbys.figures()) this.inc({ answered_by: number }, reads);
    },
  });
}
