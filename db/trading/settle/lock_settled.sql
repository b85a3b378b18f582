create or replace function trading.lock_settled(market_ids bigint[])
returns void
language plpgsql
as $$
begin
  perform
  from catalog.markets as m
  where m.id = any (lock_settled.market_ids)
  order by m.id
  for no key update;
  perform catalog.lock_categories(array(
    select m.category_id from catalog.markets as m where m.id = any (lock_settled.market_ids)
  ));
  perform trading.lock_traders(array(
    select h.user_id
    from trading.holdings as h
    where h.market_id = any (lock_settled.market_ids)
      and h.yes_quantity <> h.no_quantity
  ));
end
$$;

comment on function trading.lock_settled(bigint[]) is
  'Locks what settling several resolved markets anew changes: their rows, those of their '
  'categories, then all users whose cash moves, by ascending id and before the first one is '
  'settled. The caller holds the locks of the markets. Errors: UNFIT_SESSION.';
