create or replace function trading.lock_free_markets(market_ids bigint[])
returns bigint[]
language sql volatile
return array(
  select u.id
  from unnest(market_ids) with ordinality as u (id, place)
  where u.id is null or trading.lock_market_if_free(u.id)
  order by u.place
);

comment on function trading.lock_free_markets(bigint[]) is
  'Locks those of the markets that no other transaction has locked, until this one ends; returns '
  'their ids in the order given, with nulls kept. It waits for none. Errors: UNFIT_SESSION.';
