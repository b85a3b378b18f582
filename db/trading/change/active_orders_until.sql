create or replace function trading.active_orders_until(
  user_id bigint, last_order_id bigint, only_market_id bigint, most int
)
returns table (order_id bigint, market_id bigint)
language sql stable
begin atomic
  select b.order_id, b.market_id
  from trading.active_orders as b
  where b.user_id = active_orders_until.user_id
    and (
      active_orders_until.only_market_id is null
      or b.market_id = active_orders_until.only_market_id
    )
    and trading.began_until(b.order_id, active_orders_until.last_order_id)
  order by b.order_id
  limit active_orders_until.most;
end;

comment on function trading.active_orders_until(bigint, bigint, bigint, int) is
  'Active orders of a user: those up to last_order_id and those that came in the place of such, at '
  'most so many, oldest first. only_market_id: in this market; null: in all.';
