create or replace function trading.clear_orders_of_user(
  user_id bigint, market_ids bigint[], reason trading.cancel_reason, at timestamptz
)
returns int
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select trading.clear_orders(
    array(
      select b.order_id
      from trading.active_orders as b
      where b.user_id = clear_orders_of_user.user_id
        and exists (
          select
          from unnest(clear_orders_of_user.market_ids) as m (id)
          where m.id = b.market_id
        )
    ),
    clear_orders_of_user.reason,
    clear_orders_of_user.at
  )
$$;

comment on function trading.clear_orders_of_user(
  bigint, bigint[], trading.cancel_reason, timestamptz
) is
  'Ends the open orders of a user in some markets, resting and scheduled ones, as '
  'trading.clear_orders does; returns how many were cancelled. The caller holds the locks of the '
  'markets.';
