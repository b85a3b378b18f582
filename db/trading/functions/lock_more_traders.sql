create or replace function trading.lock_more_traders(
  slice trading.book_slice, locked_ids bigint[]
)
returns bigint[]
language plpgsql
set search_path = ''
as $$
begin
  return array(
    select a.user_id
    from ledger.accounts as a
    where a.user_id = any (array(
      select distinct r.user_id
      from unnest(slice.orders) as r
      where r.user_id <> all (lock_more_traders.locked_ids)
    ))
    order by a.id
    for no key update nowait
  );
end
$$;

comment on function trading.lock_more_traders(trading.book_slice, bigint[]) is
  'Locks the owners of the orders in a slice who are not locked yet; returns their keys. Waiting '
  'with some locked already could deadlock, so a user who is busy is an error lock_not_available: '
  'the caller''s transaction starts over.';
