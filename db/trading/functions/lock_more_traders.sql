create or replace function trading.lock_more_traders(slice trading.book_slice)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from ledger.accounts as a
  join trading.traders as r on r.user_id = a.user_id
  where a.user_id = any (array(select o.user_id from unnest(slice.orders) as o))
  order by a.id
  for no key update of a, r nowait;
end
$$;

comment on function trading.lock_more_traders(trading.book_slice) is
  'Locks the owners of the orders in a slice when users are locked already. Waiting could '
  'deadlock, so a user who is busy is an error lock_not_available: the caller''s transaction '
  'starts over.';
