create or replace function trading.try_lock_market(market_id bigint, waits boolean default false)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '250ms'
as $$
begin
  if trading.lock_market_if_free(try_lock_market.market_id) then
    return true;
  end if;
  if try_lock_market.waits then
    perform trading.lock_market(try_lock_market.market_id);
    return true;
  end if;
  return false;
exception when lock_not_available then
  return false;
end
$$;

comment on function trading.try_lock_market(bigint, boolean) is
  'Takes the lock of a market, that of trading.lock_market, if it is free; returns whether it did. '
  'waits: wait 250 ms for it, for markets that are never free for long. For jobs, which do what '
  'they can and repeat the rest.';
