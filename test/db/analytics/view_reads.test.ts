import test from "ava";
import { withClient } from "../../helpers/database/test_database.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** A view reads a table beside its own only for columns that are selected. */

const exchange = testExchange(test);
const { makeMarketWith, place, rest } = exchange;

/** What counting the rows of each view has to read. */
const own: Record<string, string[]> = {
  book_depth: ["active_orders"],
  cash_movements: ["cash_movements"],
  categories: ["categories"],
  day_openings: ["day_openings"],
  events: ["events"],
  fee_payouts: ["fee_payouts", "posted_entries"],
  fee_revenue: ["trades"],
  fee_schedules: ["fee_schedules"],
  fills: ["trades"],
  journal_entries: ["posted_entries", "trades"],
  loss_limits: ["limit_changes"],
  markets: ["markets"],
  open_interest: ["markets"],
  open_orders: ["active_orders"],
  order_reductions: ["order_reductions"],
  orders: ["active_orders", "archived_orders", "ended_orders"],
  positions: ["holdings"],
  resolutions: ["resolutions"],
  set_conversions: ["set_conversions"],
  settlements: ["settlements"],
  trades: ["trades"],
  users: ["users"],
  voided_positions: ["voided_positions"],
  voids: ["voids"],
};

const tablesOf = (node: any): string[] => [
  ...(node["Relation Name"] === undefined ? [] : [node["Relation Name"]]),
  ...(node.Plans ?? []).flatMap(tablesOf),
];

/** The tables in the plan; partitions of the archive as one, which is there only if it has any. */
async function tablesRead(query: string): Promise<string[]> {
  const { rows } = await exchange.database.pool.query(`explain (format json) ${query}`);
  const names = tablesOf(rows[0]["QUERY PLAN"][0].Plan).map((name) =>
    name.startsWith("archived_orders") ? "archived_orders" : name,
  );
  return [...new Set(names)].sort();
}

test("counting rows reads only the tables whose rows they are", async (t) => {
  const { rows } = await exchange.database.pool.query(
    "select viewname as name from pg_views where schemaname = 'analytics' order by 1",
  );
  t.deepEqual(
    rows.map(({ name }) => name),
    Object.keys(own),
  );
  for (const [view, tables] of Object.entries(own)) {
    const read = await tablesRead(`select count(*) from analytics.${view}`);
    const expected = tables.filter((name) => name !== "archived_orders" || read.includes(name));
    t.deepEqual(read, expected, view);
  }
});

test("sums over trades and fills read trades alone", async (t) => {
  for (const query of [
    `select sum(quantity), max(created_at), count(distinct taker_user_key),
       count(distinct match_type), sum(maker_realised_cents) from analytics.trades`,
    "select sum(quantity), sum(amount_cents), count(distinct order_key) from analytics.fills",
  ]) {
    t.deepEqual(await tablesRead(query), ["trades"], query);
  }
  t.deepEqual(
    await tablesRead("select sum(quantity) from analytics.trades where voided_at is null"),
    [...["trades", "voids"]],
  );
});

test("what open orders are and cost is read without ended orders", async (t) => {
  for (const query of [
    "select * from analytics.open_orders",
    "select active_order_cost_cents from analytics.users",
    "select * from analytics.users",
  ]) {
    const read = await tablesRead(query);
    t.true(read.includes("active_orders"), query);
    t.false(read.includes("ended_orders"), query);
  }
});

test("trades and fills name orders that are open, and orders that have ended", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2);
  const [filled, open] = await rest(market, ann, buy("yes", 3, 40), buy("yes", 9, 40));
  const { order: taker } = await place(market, bob, buy("no", 5, 60));
  const { order: rested } = await place(market, bob, buy("no", 20, 60));
  await withClient(exchange.database.connectAs("exchange_analyst"), async (client) => {
    const ids = async (query: string) =>
      (await client.query({ text: query, values: [market], rowMode: "array" })).rows;
    t.deepEqual(
      await ids(
        `select taker_order_id, maker_order_id, quantity from analytics.trades
         where market_id = $1 order by trade_key`,
      ),
      [
        [taker.id, filled, 3],
        [taker.id, open, 2],
        [rested.id, open, 7],
      ],
    );
    t.deepEqual(
      await ids(
        `select order_id, quantity from analytics.fills
         where market_id = $1 order by trade_key, role desc`,
      ),
      [
        ...[
          [taker.id, 3],
          [filled, 3],
          [taker.id, 2],
          [open, 2],
        ],
        ...[
          [rested.id, 7],
          [open, 7],
        ],
      ],
    );
    // The last one rests with what is left of it.
    t.deepEqual(
      await ids(
        `select order_id, quantity, filled_quantity, status, worst_cost_cents::int
         from analytics.open_orders where market_id = $1`,
      ),
      [[rested.id, 20, 7, "partially_filled", 13 * 60]],
    );
  });
});
