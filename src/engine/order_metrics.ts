import { Counter, Histogram } from "prom-client";
import type { Registry } from "prom-client";
import type { CommandResult } from "../database/calls.ts";

const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100, 200];

/** Counts the orders of each committed call that it placed or rejected, by their results. */
export function makeOrderCounter(registry: Registry): (results: CommandResult[]) => void {
  const registers = [registry];
  const orders = new Counter({
    name: "pgmarkets_orders_total",
    help: "Orders that this process sent to the database, by their result",
    labelNames: ["result"],
    registers,
  });
  const batches = new Histogram({
    name: "pgmarkets_order_batch_size",
    help: "Orders that one transaction placed or rejected",
    buckets: BATCH_SIZES,
    registers,
  });
  for (const result of ["placed", "replayed", "rejected"]) orders.inc({ result }, 0);

  return (results) => {
    if (results.length > 0) batches.observe(results.length);
    for (const { code, replayed } of results) {
      orders.inc({ result: code !== null ? "rejected" : replayed ? "replayed" : "placed" });
    }
  };
}
