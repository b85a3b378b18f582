create or replace function trading.lock_markets(market_ids bigint[])
returns void
language plpgsql
as $$
begin
  perform trading.lock_market(u.id)
  from unnest(lock_markets.market_ids) as u (id);
end
$$;

comment on function trading.lock_markets(bigint[]) is
  'Locks markets until the transaction ends, one after the other. The ids must be ascending. '
  'Errors: UNFIT_SESSION.';
