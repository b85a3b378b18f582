create or replace function trading.lock_free_markets(market_ids bigint[])
returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_id bigint;
  v_locked bigint[] := '{}';
begin
  perform core.check_session();
  foreach v_market_id in array lock_free_markets.market_ids loop
    if v_market_id is null or pg_try_advisory_xact_lock(trading.market_lock(v_market_id)) then
      v_locked := v_locked || v_market_id;
    end if;
  end loop;
  return v_locked;
end
$$;

comment on function trading.lock_free_markets(bigint[]) is
  'Locks those of the markets that no other transaction has locked, until this one ends; returns '
  'their ids in the order given, with nulls kept. It waits for none. Errors: UNFIT_SESSION.';
