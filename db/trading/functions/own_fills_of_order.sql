create or replace function trading.own_fills_of_order("order" trading.orders)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    json_agg(
      trading.own_fill_object(f.trade, ("order").user_id, ("order").public_id, m.public_id)
      order by (f.trade).id
    ),
    '[]'
  )
  from (
    select t as trade
    from trading.trades as t
    where t.taker_order_id = ("order").id
    union all
    select t
    from trading.trades as t
    where t.maker_order_id = ("order").id
  ) as f
  join catalog.markets as m on m.id = ("order").market_id
$$;

comment on function trading.own_fills_of_order(trading.orders) is
  'All fills of an order, as a taker and as a maker, in the order in which they happened. Cost: '
  'those trades, at most one for each share.';
