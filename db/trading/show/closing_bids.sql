-- A plan for each call: what has happened since may be much or little.
create or replace function trading.closing_bids(at timestamptz)
returns table (market_id bigint, yes_bid int, no_bid int)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_trade_id constant bigint := ledger.trade_before(closing_bids.at);
begin
  return query
  with
  ended as (
    -- Cancelled since, without a fill and with some.
    select e.*
    from trading.ended_orders as e
    where e.ended_at >= closing_bids.at
      and e.filled_quantity = 0
    union all
    select e.*
    from trading.ended_orders as e
    where e.ended_at >= closing_bids.at
      and e.filled_quantity > 0
      and e.status = 'cancelled'
    union all
    -- Filled since: what rested was a maker.
    select e.*
    from (
      select distinct t.maker_order_id
      from trading.trades as t
      where t.id > v_trade_id
        and t.created_at >= closing_bids.at
    ) as f
    join trading.ended_orders as e on e.id = f.maker_order_id
    where e.status = 'filled'
  ),
  bids as (
    select m.id as market_id, s.side, a.book_price::int as price
    from catalog.markets as m
    cross join (values ('yes'::trading.side), ('no')) as s (side)
    cross join lateral (
      select o.book_price
      from trading.active_orders as o
      where o.market_id = m.id
        and o.book_side = s.side
        and o.queue_position is not null
        and coalesce(o.released_at, o.created_at) < closing_bids.at
        and (o.expires_at is null or o.expires_at >= closing_bids.at)
      order by o.book_price desc, o.queue_position
      limit 1
    ) as a
    where m.resolved_at is null
      or m.resolved_at >= closing_bids.at
    union all
    select
      e.market_id,
      case
        when e.order_type = 'buy' then e.side
        when e.side = 'yes' then 'no'
        else 'yes'
      end,
      case e.order_type when 'buy' then e.price::int else 100 - e.price::int end
    from ended as e
    join catalog.markets as m on m.id = e.market_id
    where (m.resolved_at is null or m.resolved_at >= closing_bids.at)
      and (e.release_at is null or e.released_at is not null)
      and coalesce(e.released_at, e.created_at) < closing_bids.at
      and (e.expires_at is null or e.expires_at >= closing_bids.at)
  )
  select
    b.market_id,
    coalesce(max(b.price) filter (where b.side = 'yes'), 0),
    coalesce(max(b.price) filter (where b.side = 'no'), 0)
  from bids as b
  group by b.market_id
  order by b.market_id;
end
$$;

comment on function trading.closing_bids(timestamptz) is
  'The best bids for a share at a moment of the last 30 days, of the markets that had a bid and '
  'were not resolved: of orders that are active and of those that have ended since. All that was '
  'accepted before must have committed. Cost: a look into the book of each market, and the orders '
  'and trades since.';
