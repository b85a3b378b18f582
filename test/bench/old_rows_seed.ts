import type { PoolClient } from "pg";
import { publicIdOf } from "./catalogue.ts";
import type { BenchDatabase } from "./cluster.ts";

/**
 * Orders that were filled and their trades, as many as wanted, with all that belongs to them:
 * journals, entries, positions, the figures of the markets. Written set by set and not by the
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
    // The triggers of append-only tables and of balanced journals.
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

/** One row for each group: its market, its time, its four traders and the first of its four ids. */
function groupsOf(first: number, last: number, ago: string): string {
  return `
    select
      m.id as market_id,
      core.now() - ${ago} as happened_at,
      coalesce((select max(o.id) from trading.orders as o), 0) + 1 + 5 * (g.number - ${first})
        as first_order_id,
      coalesce((select max(t.id) from trading.trades as t), 0) + p.first_place as first_trade_id,
      coalesce((select max(j.id) from ledger.journals as j), 0) + p.first_place
        as first_journal_id,
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
  `insert into trading.orders (
     id, market_id, user_id, side, order_type, price, quantity, filled_quantity, time_in_force,
     status, fee_cents, created_at
   )
   select
     g.first_order_id + s.place, g.market_id,
     case when s.is_maker then g.maker_ids[1 + s.place % 2] else g.taker_ids[s.place - 2] end,
     case when s.is_maker then 'yes' else 'no' end::trading.side, 'buy',
     case when s.is_maker then g.price else 100 - g.price end,
     s.trades * g.quantity, s.trades * g.quantity, 'gtc', 'filled',
     case when s.is_maker then 0
       else trading.fee_cents(g.taker_rate_bps, 2 * g.quantity * g.price * (100 - g.price)) end,
     g.happened_at
   from groups as g
   cross join (
     values (0, true, 1), (1, true, 2), (2, true, 1), (3, false, 2), (4, false, 2)
   ) as s (place, is_maker, trades)`,

  // The first taker meets the first two makers, the other one the last two.
  `create temporary table new_trades on commit drop as
   select
     g.first_trade_id + s.place as id,
     g.first_journal_id + s.place as journal_id,
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

  `insert into ledger.journals (id, kind, market_id, created_at)
   select t.journal_id, 'trade', t.market_id, t.happened_at from new_trades as t`,

  `insert into trading.trades (
     id, market_id, journal_id, taker_order_id, maker_order_id, taker_user_id, maker_user_id,
     taker_side, price, quantity, fee_cents, fee_schedule_id, created_at
   )
   select
     t.id, t.market_id, t.journal_id, t.taker_order_id, t.maker_order_id, t.taker_user_id,
     t.maker_user_id, 'no', t.price, t.quantity, t.fee_cents, t.fee_schedule_id, t.happened_at
   from new_trades as t`,

  `create temporary table new_entries on commit drop as
   select
     l.journal_id, a.id as account_id, l.amount_cents,
     a.balance_cents + sum(l.amount_cents) over account as balance_after_cents,
     a.version + row_number() over account as account_version
   from (
     select t.journal_id, a.id, -(100 - t.price) * t.quantity - t.fee_cents
     from new_trades as t join ledger.accounts as a on a.user_id = t.taker_user_id
     union all
     select t.journal_id, a.id, -t.price * t.quantity
     from new_trades as t join ledger.accounts as a on a.user_id = t.maker_user_id
     union all
     select t.journal_id, b.escrow_account_id, 100 * t.quantity
     from new_trades as t join trading.market_state as b on b.market_id = t.market_id
     union all
     select t.journal_id, b.fee_account_id, t.fee_cents
     from new_trades as t join trading.market_state as b on b.market_id = t.market_id
     where t.fee_cents > 0
   ) as l (journal_id, account_id, amount_cents)
   join ledger.accounts as a on a.id = l.account_id
   window account as (
     partition by a.id order by l.journal_id rows between unbounded preceding and current row
   )`,

  `insert into ledger.entries (
     journal_id, account_id, amount_cents, balance_before_cents, balance_after_cents,
     account_version
   )
   select
     e.journal_id, e.account_id, e.amount_cents, e.balance_after_cents - e.amount_cents,
     e.balance_after_cents, e.account_version
   from new_entries as e
   order by e.journal_id`,

  `update ledger.accounts as a set
     balance_cents = e.balance_after_cents,
     version = e.account_version,
     moved_on = (core.now() at time zone 'UTC')::date
   from (
     select distinct on (n.account_id) n.account_id, n.balance_after_cents, n.account_version
     from new_entries as n
     order by n.account_id, n.account_version desc
   ) as e
   where a.id = e.account_id`,
];

/** What is a sum over all trades. */
const finish = [
  `insert into trading.positions (
     market_id, user_id, side, quantity, cost_cents, fee_cents, has_traded
   )
   select
     s.market_id, s.user_id, s.side, sum(s.quantity), sum(s.cost_cents), sum(s.fee_cents), true
   from (
     select t.market_id, t.taker_user_id, 'no'::trading.side, t.quantity,
       (100 - t.price) * t.quantity, t.fee_cents::bigint
     from trading.trades as t
     union all
     select t.market_id, t.maker_user_id, 'yes', t.quantity, t.price * t.quantity, 0
     from trading.trades as t
   ) as s (market_id, user_id, side, quantity, cost_cents, fee_cents)
   group by s.market_id, s.user_id, s.side`,

  `update trading.market_state as b set
     version = b.version + o.placed_count,
     placed_count = o.placed_count,
     placed_id_sum = o.placed_id_sum,
     last_trade_price = (select x.price from trading.trades as x where x.id = t.last_trade_id),
     trade_count = t.trade_count,
     yes_volume_cents = t.yes_volume_cents,
     no_volume_cents = t.no_volume_cents,
     traders_count = (
       select count(distinct p.user_id) from trading.positions as p
       where p.market_id = b.market_id
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

  ...["trading.orders", "trading.trades", "ledger.journals"].map(
    (table) => `select setval(pg_get_serial_sequence('${table}', 'id'), max(id)) from ${table}`,
  ),
];
