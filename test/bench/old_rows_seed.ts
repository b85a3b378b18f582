import type { PoolClient } from "pg";
import { publicIdOf } from "./catalogue.ts";
import type { BenchDatabase } from "./cluster.ts";

/**
 * Orders that were filled and their trades, as many as wanted, with all that belongs to them:
 * cash, holdings, the figures of the markets. Written set by set and not by the
 * engine, which would take an hour; `ledger.verify()` holds them to the same.
 *
 * The trades come in groups of four. In each two takers, who bought NO, meet two makers each, who
 * bought YES: the second of three fills the first taker and begins the other. The traders of a
 * market are a hundred neighbours.
 */

const CHUNK_GROUPS = 25_000;

/**
 * Writes the old rows; their number is a multiple of four. They happened one after another within
 * the last so many days; with none, just now.
 */
export async function seedOldRows({ pool }: BenchDatabase, rows: number, days = 0): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("set synchronous_commit = off");
    await client.query("set work_mem = '256MB'");
    // The triggers of append-only tables.
    await client.query("set session_replication_role = replica");
    const groups = rows / 4;
    for (let first = 0; first < groups; first += CHUNK_GROUPS) {
      const last = Math.min(first + CHUNK_GROUPS, groups) - 1;
      const ago = `(1 - g.number::float8 / ${groups}) * interval '${days} days'`;
      await seedGroups(client, groupsOf(first, last, ago));
      console.error(`  old rows: ${4 * (last + 1)} of ${rows}`);
    }
    for (const statement of finish) await client.query(statement);
  } finally {
    client.release(true);
  }
  await pool.query("vacuum (analyze)");
}

async function seedGroups(client: PoolClient, groups: string): Promise<void> {
  await client.query("begin");
  await client.query(`create temporary table groups on commit drop as ${groups}`);
  for (const statement of seed) await client.query(statement);
  await client.query("commit");
}

/** One row for each group: its market, its time, its four traders, the first of its ids of orders and of trades. */
function groupsOf(first: number, last: number, ago: string): string {
  return `
    select
      m.id as market_id,
      core.now() - ${ago} as happened_at,
      coalesce((select max(o.id) from trading.orders as o), 0) + 1 + 5 * (g.number - ${first})
        as first_order_id,
      j.last_id + p.first_place as first_trade_id,
      array[
        c.trader_ids[1 + (p.market * 37 + p.pair % 50) % c.traders],
        c.trader_ids[1 + (p.market * 37 + (p.pair + 1) % 50) % c.traders]
      ] as maker_ids,
      array[
        c.trader_ids[1 + (p.market * 37 + 50 + p.pair % 50) % c.traders],
        c.trader_ids[1 + (p.market * 37 + 50 + (p.pair + 1) % 50) % c.traders]
      ] as taker_ids,
      (30 + g.number % 40)::int as price,
      5 as quantity,
      f.id as fee_schedule_id,
      f.taker_rate_bps
    from generate_series(${first}::bigint, ${last}) as g (number)
    cross join (
      select
        (select count(*) from catalog.markets) as markets, count(*) as traders,
        array_agg(u.id order by u.public_id) as trader_ids
      from identity.users as u
    ) as c
    cross join (
      select
        greatest(
          (select max(t.id) from trading.trades as t),
          (select max(p.id) from ledger.posted_journals as p),
          0
        ) as last_id
    ) as j
    cross join lateral (
      select
        4 * (g.number - ${first}) + 1 as first_place,
        1 + g.number % c.markets as market,
        g.number / c.markets * 2 as pair
    ) as p
    join catalog.markets as m on m.public_id = ${publicIdOf("p.market")}
    cross join (select s.* from trading.fee_schedules as s order by s.id limit 1) as f`;
}

const seed = [
  // The outer makers are filled by one trade, the others by two. The fee of a taker is of both,
  // rounded up once.
  `insert into trading.ended_orders (
     id, public_id, market_id, user_id, side, order_type, price, quantity, filled_quantity, time_in_force,
     status, post_only, fee_cents, created_at, ended_at
   )
   select
     g.first_order_id + s.place,
     (left(core.uuid_v7_at(g.happened_at)::text, 14) || substr(core.uuid_v7()::text, 15))::uuid,
     g.market_id,
     case when s.is_maker then g.maker_ids[1 + s.place % 2] else g.taker_ids[s.place - 2] end,
     case when s.is_maker then 'yes' else 'no' end::trading.side, 'buy',
     case when s.is_maker then g.price else 100 - g.price end,
     s.trades * g.quantity, s.trades * g.quantity, 'gtc', 'filled', false,
     case when s.is_maker then 0
       else trading.fee_cents(g.taker_rate_bps, 2 * g.quantity * g.price * (100 - g.price)) end,
     g.happened_at, g.happened_at
   from groups as g
   cross join (
     values (0, true, 1), (1, true, 2), (2, true, 1), (3, false, 2), (4, false, 2)
   ) as s (place, is_maker, trades)`,

  // The first taker meets the first two makers, the other one the last two.
  `create temporary table new_trades on commit drop as
   select
     g.first_trade_id + s.place as id,
     g.market_id, g.happened_at, g.price, g.quantity, g.fee_schedule_id,
     g.first_order_id + 3 + s.taker as taker_order_id,
     g.first_order_id + s.maker as maker_order_id,
     g.taker_ids[1 + s.taker] as taker_user_id,
     g.maker_ids[1 + s.maker % 2] as maker_user_id,
     case s.place % 2 when 0 then f.of_first else f.of_both - f.of_first end as fee_cents
   from groups as g
   cross join lateral (
     select
       trading.fee_cents(g.taker_rate_bps, g.quantity * g.price * (100 - g.price)) as of_first,
       trading.fee_cents(g.taker_rate_bps, 2 * g.quantity * g.price * (100 - g.price)) as of_both
   ) as f
   cross join (values (0, 0, 0), (1, 0, 1), (2, 1, 1), (3, 1, 2)) as s (place, taker, maker)`,

  // The lines of the traders, each with the account as it is after it.
  `create temporary table new_lines on commit drop as
   select
     l.trade_id, l.user_id, l.is_taker, l.amount_cents,
     a.balance_cents + sum(l.amount_cents) over account as balance_cents,
     a.account_version + row_number() over account as version
   from (
     select
       t.id, t.taker_user_id, true, -(100 - t.price) * t.quantity - t.fee_cents
     from new_trades as t
     union all
     select t.id, t.maker_user_id, false, -t.price * t.quantity
     from new_trades as t
   ) as l (trade_id, user_id, is_taker, amount_cents)
   join trading.traders as a on a.user_id = l.user_id
   window account as (
     partition by l.user_id order by l.trade_id rows between unbounded preceding and current row
   )`,

  `insert into trading.trades (
     id, public_id, market_id, taker_order_id, maker_order_id, taker_user_id, maker_user_id,
     taker_cents, taker_balance_cents, taker_version,
     maker_cents, maker_balance_cents, maker_version,
     escrow_balance_cents, escrow_version, revenue_balance_cents, revenue_version,
     taker_side, price, quantity, fee_cents, fee_schedule_id, created_at
   )
   select
     t.id, core.uuid_v7(), t.market_id, t.taker_order_id, t.maker_order_id, t.taker_user_id,
     t.maker_user_id,
     l.amount_cents, l.balance_cents, l.version,
     k.amount_cents, k.balance_cents, k.version,
     b.escrow_cents + sum(100 * t.quantity) over market,
     b.escrow_version + row_number() over market,
     b.revenue_cents + sum(t.fee_cents) over market,
     b.revenue_version + count(*) filter (where t.fee_cents > 0) over market,
     'no', t.price, t.quantity, t.fee_cents, t.fee_schedule_id, t.happened_at
   from new_trades as t
   join new_lines as l on l.trade_id = t.id and l.is_taker
   join new_lines as k on k.trade_id = t.id and not k.is_taker
   join trading.market_state as b on b.market_id = t.market_id
   window market as (
     partition by t.market_id order by t.id rows between unbounded preceding and current row
   )
   order by t.id`,

  `update trading.traders as a set
     balance_cents = l.balance_cents,
     account_version = l.version,
     moved_on = (core.now() at time zone 'UTC')::date
   from (
     select distinct on (n.user_id) n.user_id, n.balance_cents, n.version
     from new_lines as n
     order by n.user_id, n.version desc
   ) as l
   where a.user_id = l.user_id`,

  `update trading.market_state as b set
     escrow_cents = t.escrow_balance_cents,
     escrow_version = t.escrow_version,
     revenue_cents = t.revenue_balance_cents,
     revenue_version = t.revenue_version
   from (
     select max(n.id) as id from new_trades as n group by n.market_id
   ) as l
   join trading.trades as t on t.id = l.id
   where b.market_id = t.market_id`,
];

/** What is a sum over all trades. */
const finish = [
  `insert into trading.holdings (
     market_id, user_id, yes_public_id, yes_quantity, yes_cost_cents, yes_traded,
     no_public_id, no_quantity, no_cost_cents, no_fee_cents, no_traded
   )
   select
     s.market_id, s.user_id,
     case when sum(s.yes_quantity) > 0 then core.uuid_v7() end,
     sum(s.yes_quantity), sum(s.yes_cost_cents), sum(s.yes_quantity) > 0,
     case when sum(s.no_quantity) > 0 then core.uuid_v7() end,
     sum(s.no_quantity), sum(s.no_cost_cents), sum(s.fee_cents), sum(s.no_quantity) > 0
   from (
     select
       t.market_id, t.taker_user_id, 0, 0, t.quantity, (100 - t.price) * t.quantity,
       t.fee_cents::bigint
     from trading.trades as t
     union all
     select t.market_id, t.maker_user_id, t.quantity, t.price * t.quantity, 0, 0, 0
     from trading.trades as t
   ) as s (
     market_id, user_id, yes_quantity, yes_cost_cents, no_quantity, no_cost_cents, fee_cents
   )
   group by s.market_id, s.user_id`,

  `update trading.market_state as b set
     version = b.version + o.placed_count,
     placed_count = o.placed_count,
     placed_id_sum = o.placed_id_sum,
     last_trade_price = (select x.price from trading.trades as x where x.id = t.last_trade_id),
     trade_count = t.trade_count,
     yes_volume_cents = t.yes_volume_cents,
     no_volume_cents = t.no_volume_cents,
     traders_count = (
       select count(*) from trading.holdings as h
       where h.market_id = b.market_id
     )
   from (
     select
       t.market_id,
       count(*) as trade_count,
       sum(t.quantity * t.price) as yes_volume_cents,
       sum(t.quantity * (100 - t.price)) as no_volume_cents,
       max(t.id) as last_trade_id
     from trading.trades as t
     group by t.market_id
   ) as t
   join (
     select x.market_id, count(*) as placed_count, sum(x.id) as placed_id_sum
     from trading.orders as x
     group by x.market_id
   ) as o on o.market_id = t.market_id
   where t.market_id = b.market_id`,

  "select setval('trading.order_ids', max(o.id)) from trading.orders as o",
  "select setval('ledger.journal_ids', max(t.id)) from trading.trades as t",
];
