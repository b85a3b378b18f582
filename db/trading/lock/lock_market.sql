create or replace function trading.lock_market(market_id bigint)
returns void
language sql volatile
-- The check adds 0: as a part of the argument it runs before the lock is taken.
return pg_advisory_xact_lock(trading.market_lock(market_id) | core.check_session());

comment on function trading.lock_market(bigint) is
  'Takes the lock of a market until the transaction ends: everything that changes its book, '
  'trades, positions or status does so under it. Locked before all users; several '
  'are locked in ascending id. Errors: UNFIT_SESSION.';
