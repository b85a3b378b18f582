import type { Pool } from "pg";
import { expectCount } from "./bench.ts";
import type { Bench } from "./bench.ts";
import { publicId } from "./catalogue.ts";
import type { BenchDatabase } from "./cluster.ts";
import { AHEAD_MS, hearLateness, MARKETS, measureLateness, placeInMarkets } from "./lateness.ts";
import type { Result } from "./report.ts";

const MOST_SWITCHES = 1000;
const ORDERS_EACH = 2;

/**
 * How late orders are cancelled, and their owners hear of it, when dead man's switches of many
 * users expire at the same moment.
 */
export async function measureSwitchLateness(bench: Bench): Promise<Result[]> {
  const switches = Math.min(MOST_SWITCHES, bench.sizes.traders);
  const rounds = await measureLateness(bench, {
    name: "switch_lateness",
    measureRound: (database, api) => measureRound(database, api, switches),
  });
  const cancelled = rounds.map((round) => round.cancelled);
  const heard = rounds.map((round) => round.heard);
  const what = `${switches} dead man's switches due at once, ${ORDERS_EACH} orders each in ${MARKETS} markets: how late the 99th of 100 orders is`;
  return [
    { target: `${what} cancelled`, unit: "ms", must: 250, aim: 125, ours: cancelled },
    { target: `${what} heard of`, unit: "ms", must: 250, aim: 150, ours: heard },
  ];
}

/** How late each order was, in milliseconds; none is early. */
async function measureRound(
  database: BenchDatabase,
  api: Pool,
  switches: number,
): Promise<{ cancelled: number[]; heard: number[] }> {
  const { pool } = database;
  await restOrders(api, switches);
  const orders = switches * ORDERS_EACH;
  let dueAt = Number.NaN;
  const heard = await hearLateness(database, {
    count: orders,
    schedule: async () => {
      dueAt = await setSwitches(pool, switches);
      return ({ type }) => (type === "order_cancelled" ? dueAt : undefined);
    },
  });
  expectCount("events of cancelled orders", heard.length, orders);
  const { rows: ended } = await pool.query<{ ms: number }>(
    `select extract(epoch from o.cancelled_at)::float8 * 1000 - $1 as ms
     from trading.orders as o
     where o.cancelled_at >= to_timestamp($1 / 1000) - interval '1 s'`,
    [dueAt],
  );
  const cancelled = ended.map(({ ms }) => ms);
  expectCount("cancelled orders", cancelled.length, orders);
  expectCount("orders cancelled early", cancelled.filter((ms) => ms < 0).length, 0);
  return { cancelled, heard };
}

/** Sets the switches of as many users; when they expire, in milliseconds since 1970. */
async function setSwitches(pool: Pool, switches: number): Promise<number> {
  const { rows } = await pool.query<{ ms: number }>(
    `with at as materialized (select core.now() + $1::int * interval '1 ms' as at),
     switches as (
       insert into trading.dead_man_switches as s (user_id, expires_at)
       select t.user_id, a.at
       from trading.traders as t
       cross join at as a
       where t.public_id between $2 and $3
       on conflict (user_id) do update set expires_at = excluded.expires_at
     )
     select extract(epoch from at)::float8 * 1000 as ms from at`,
    [AHEAD_MS, publicId(1), publicId(switches)],
  );
  return rows[0]?.ms ?? Number.NaN;
}

/** Bids that meet nothing: the orders of a user are in different markets. */
async function restOrders(api: Pool, switches: number): Promise<void> {
  await placeInMarkets(api, (market) => {
    const requests = [];
    for (let user = 1; user <= switches; user++) {
      for (let order = 0; order < ORDERS_EACH; order++) {
        if (1 + ((user * 7 + order) % MARKETS) !== market) continue;
        requests.push({
          ...{ marketId: publicId(market), userId: publicId(user) },
          ...{ side: "yes" as const, price: 10 + order, quantity: 1 },
        });
      }
    }
    return requests;
  });
}
