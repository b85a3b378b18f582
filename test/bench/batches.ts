import type { Pool } from "pg";
import type { OrderRequest } from "../../src/database/calls.ts";
import { placeOrders } from "./orders.ts";

/**
 * Ready calls of several orders, which pgbench takes in random order. Each order has a key, which is
 * of its place in the batch and of a number that is drawn for each call.
 */

/** Twelve digits, in the place of which the number of a call comes. */
const CALL_NUMBER = "000000000000";

/** Writes batches down for {@link batchScript}. */
export async function writeBatches(pool: Pool, batches: OrderRequest[][]): Promise<void> {
  await pool.query("create table public.bench_batches (id int primary key, requests text)");
  await pool.query("grant select on public.bench_batches to exchange_api");
  await pool.query(
    `insert into public.bench_batches
     select place, requests from unnest($1::text[]) with ordinality as b (requests, place)`,
    [batches.map((orders) => JSON.stringify(orders.map(withKey)))],
  );
  await pool.query("vacuum (analyze)");
}

function withKey(order: OrderRequest, place: number): OrderRequest {
  const start = String(place).padStart(8, "0");
  return { ...order, idempotencyKey: `${start}-c411-4000-8000-${CALL_NUMBER}` };
}

/** Places one of the batches, all of whose answers come back as they would to the server. */
export function batchScript(batches: number): string[] {
  const requests = `replace(b.requests, '-${CALL_NUMBER}', '-' || (:number)::bigint)`;
  const call = placeOrders(requests, "public.bench_batches as b, ");
  return [
    `\\set batch random(1, ${batches})`,
    "\\set number random(100000000000, 999999999999)",
    `${call} where b.id = :batch;`,
  ];
}
