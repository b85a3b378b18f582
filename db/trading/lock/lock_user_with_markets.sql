create or replace function trading.lock_user_with_markets(user_id uuid)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id bigint := (
    select u.id from identity.users as u where u.public_id = lock_user_with_markets.user_id
  );
  v_market_id bigint;
  v_market_ids bigint[];
begin
  -- Markets are locked before users, but which markets it must be is only certain once the user
  -- is locked: look, lock both, look again, and start over if an order came in between.
  loop
    begin
      v_market_ids := '{}';
      for v_market_id in
        select distinct b.market_id
        from trading.active_orders as b
        where b.user_id = v_user_id
        order by b.market_id
      loop
        perform trading.lock_market(v_market_id);
        v_market_ids := v_market_ids || v_market_id;
      end loop;
      perform identity.lock_user(lock_user_with_markets.user_id);
      if exists (
        select from trading.active_orders as b
        where b.user_id = v_user_id and b.market_id <> all (v_market_ids)
      ) then
        raise exception using errcode = 'serialization_failure';
      end if;
      return v_market_ids;
    exception when serialization_failure then
      null; -- the locks of this attempt are gone with it
    end;
  end loop;
end
$$;

comment on function trading.lock_user_with_markets(uuid) is
  'Locks a user together with all markets in which the user has open orders, and returns those '
  'markets: these orders change no more until the transaction ends. Errors: NOT_FOUND. Locks: the '
  'markets in ascending id, then the user.';
