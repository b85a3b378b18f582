create or replace function trading.lock_free_markets(market_ids bigint[])
returns bigint[]
language plpgsql volatile
as $$
begin
  perform core.check_session();
  return array(
    select u.id
    from unnest(lock_free_markets.market_ids) with ordinality as u (id, place)
    where u.id is null
      or pg_try_advisory_xact_lock(trading.market_lock(u.id))
    order by u.place
  );
end
$$;

comment on function trading.lock_free_markets(bigint[]) is
  'Locks those of the markets that no other transaction has locked, until this one ends; returns '
  'their ids in the order given, with nulls kept. It waits for none. Errors: UNFIT_SESSION.';
