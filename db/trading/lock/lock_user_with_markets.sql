create or replace function trading.lock_user_with_markets(user_id uuid)
returns bigint[]
language plpgsql
as $$
declare
  c_most_orders constant int := 1000;
  v_user_id constant bigint := identity.lock_user(lock_user_with_markets.user_id);
begin
  return trading.lock_free_markets(array(
    select distinct b.market_id
    from (
      select x.market_id
      from trading.active_orders as x
      where x.user_id = v_user_id
      order by x.order_id
      limit c_most_orders
    ) as b
    order by b.market_id
  ));
end
$$;

comment on function trading.lock_user_with_markets(uuid) is
  'Locks a user, and then those markets of the user''s 1,000 oldest open orders that are free; '
  'returns these: trading.stop_user_orders can cancel what is there at once. It waits for the user '
  'alone, and keeps no market locked meanwhile. Errors: NOT_FOUND, UNFIT_SESSION.';
