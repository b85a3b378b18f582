create or replace function trading.lock_market_if_free(market_id bigint)
returns boolean
language sql volatile
return pg_try_advisory_xact_lock(trading.market_lock(market_id) | core.check_session());

comment on function trading.lock_market_if_free(bigint) is
  'Takes the lock of trading.lock_market without waiting; returns whether it was free. Errors: '
  'UNFIT_SESSION.';
