create or replace function trading.lock_markets(market_ids bigint[])
returns void
language plpgsql
as $$
declare
  v_market_id bigint;
begin
  foreach v_market_id in array lock_markets.market_ids loop
    perform trading.lock_market(v_market_id);
  end loop;
end
$$;

comment on function trading.lock_markets(bigint[]) is
  'Locks markets until the transaction ends, one after the other. The ids must be ascending. '
  'Errors: UNFIT_SESSION.';
