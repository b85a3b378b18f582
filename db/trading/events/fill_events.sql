-- Joined by hashing, which those who call it forbid, so that it is linear. The joins that look up
-- one row of a table each time cannot be made otherwise.
-- Rows are looked up by a range of one id, in order, which the primary key alone gives: on an empty
-- table the planner may choose an index whose first column is another, and keep to it.
create or replace function trading.fill_events(trade_ids bigint[], user_id bigint)
returns table (trade_id bigint, event json)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set enable_hashjoin = on
set enable_nestloop = off
as $$
begin
  return query
  with own as materialized (
    select
      t.id,
      case
        when t.taker_user_id = fill_events.user_id then t.taker_order_id else t.maker_order_id
      end as order_id
    from unnest(fill_events.trade_ids) as i (id)
    cross join lateral (
      select x.* from trading.trades as x where x.id between i.id and i.id order by x.id limit 1
    ) as t
  ),
  -- The last of these trades of each order. All trades of an order as taker follow one another
  -- among those of its user; of those as maker, the latest are looked at first. An order that is
  -- still open is not asked.
  ordered as materialized (
    select
      o.id, o.status, o.time_in_force, d.last_trade_id,
      case when o.status in ('filled', 'cancelled') then
        coalesce(
          (
            select x.taker_order_id = o.id
            from trading.trades as x
            where (x.taker_user_id, x.id) > (fill_events.user_id, d.last_trade_id)
              and x.taker_user_id <= fill_events.user_id
            order by x.taker_user_id, x.id
            limit 1
          ),
          false
        )
        or coalesce(
          (
            select true
            from trading.trades as x
            where x.maker_order_id >= o.id
              and x.maker_order_id <= o.id
              and x.id > d.last_trade_id
            order by x.maker_order_id desc
            limit 1
          ),
          false
        )
      end as goes_on
    from (
      select w.order_id, max(w.id) as last_trade_id
      from own as w
      group by w.order_id
    ) as d
    cross join lateral (
      select y.id, y.status, y.time_in_force
      from trading.orders as y
      where y.id between d.order_id and d.order_id
      order by y.id
      limit 1
    ) as o
  )
  select
    f.trade_id,
    (
      '{"type":"fill",' || substr(f.fill::text, 2, length(f.fill::text) - 2)
      || ',"orderStatus":"' || case
        when f.trade_id < o.last_trade_id or o.goes_on then 'partially_filled'
        when o.status = 'filled' then 'filled'
        when o.status = 'cancelled' and o.time_in_force = 'ioc' then 'cancelled'
        else 'partially_filled'
      end || '"}'
    )::json
  from trading.own_fills(fill_events.trade_ids, fill_events.user_id) as f
  join own as w on w.id = f.trade_id
  join ordered as o on o.id = w.order_id;
end
$$;

comment on function trading.fill_events(bigint[], bigint) is
  'The fill events of trades for one of their two users: as in GET /me/fills, with the status of '
  'the order right after the trade. It is cancelled on the last fill of an order that cannot rest '
  'and was not filled.';
