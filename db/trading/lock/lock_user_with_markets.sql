create or replace function trading.lock_user_with_markets(user_id uuid)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_orders constant int := 1000;
  v_market_ids bigint[] := array(
    select distinct b.market_id
    from (
      select x.market_id
      from identity.users as u
      join trading.active_orders as x on x.user_id = u.id
      where u.public_id = lock_user_with_markets.user_id
      order by x.order_id
      limit c_most_orders
    ) as b
    order by b.market_id
  );
begin
  if v_market_ids <> '{}' then
    -- Only the first one is waited for, so that no market is kept locked meanwhile.
    perform trading.lock_market(v_market_ids[1]);
    v_market_ids := v_market_ids[1] || trading.lock_free_markets(v_market_ids[2 :]);
  end if;
  perform identity.lock_user(lock_user_with_markets.user_id);
  return v_market_ids;
end
$$;

comment on function trading.lock_user_with_markets(uuid) is
  'Locks a user together with markets in which the user has open orders, and returns those '
  'markets: trading.stop_orders can cancel what is there at once. Errors: NOT_FOUND. Locks: of the '
  'markets of the user''s 1,000 oldest orders the first, and those of the others that are free; '
  'then the user.';
