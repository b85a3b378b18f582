create or replace function trading.fills_of_order(order_id bigint)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select '[' || coalesce(
    string_agg(
      trading.fill_object(
        t.public_id, m.public_id, t.taker_side, taker.public_id, maker.public_id,
        taker_user.public_id, maker_user.public_id, t.price, t.quantity,
        core.iso8601(t.created_at)
      ),
      ','
      order by t.id
    ),
    ''
  ) || ']'
  from trading.trades as t
  join catalog.markets as m on m.id = t.market_id
  join trading.orders as taker on taker.id = t.taker_order_id
  join trading.orders as maker on maker.id = t.maker_order_id
  join identity.users as taker_user on taker_user.id = t.taker_user_id
  join identity.users as maker_user on maker_user.id = t.maker_user_id
  where t.taker_order_id = fills_of_order.order_id
$$;

comment on function trading.fills_of_order(bigint) is
  'What an order took when it was placed, in order of execution, as the answers show it, as '
  'JSON text.';
