create or replace function trading.fill_events(trade_ids bigint[], user_id bigint)
returns table (trade_id bigint, event json)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with own as materialized (
    select
      t.id,
      case
        when t.taker_user_id = fill_events.user_id then t.taker_order_id else t.maker_order_id
      end as order_id
    from unnest(fill_events.trade_ids) as i (id)
    cross join lateral (
      select x.* from trading.trades as x where x.id = i.id limit 1
    ) as t
  ),
  -- The sum keeps the planner from looking for the last trade along the primary key.
  ordered as materialized (
    select
      o.id, o.status, o.time_in_force,
      greatest(
        (select max(x.id + 0) from trading.trades as x where x.taker_order_id = o.id),
        (select max(x.id + 0) from trading.trades as x where x.maker_order_id = o.id)
      ) as last_trade_id
    from (select distinct w.order_id from own as w) as d
    cross join lateral (
      select y.id, y.status, y.time_in_force
      from trading.orders as y
      where y.id = d.order_id
      limit 1
    ) as o
  )
  select
    f.trade_id,
    (
      '{"type":"fill",' || substr(f.fill::text, 2, length(f.fill::text) - 2)
      || ',"orderStatus":"' || case
        when o.last_trade_id > f.trade_id then 'partially_filled'
        when o.status = 'filled' then 'filled'
        when o.status = 'cancelled' and o.time_in_force = 'ioc' then 'cancelled'
        else 'partially_filled'
      end || '"}'
    )::json
  from trading.own_fills(fill_events.trade_ids, fill_events.user_id) as f
  join own as w on w.id = f.trade_id
  join ordered as o on o.id = w.order_id
$$;

comment on function trading.fill_events(bigint[], bigint) is
  'The fill events of trades for one of their two users: as in GET /me/fills, with the status of '
  'the order right after the trade. It is cancelled on the last fill of an order that cannot rest '
  'and was not filled.';
