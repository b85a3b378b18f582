create or replace function trading.lock_more_traders(user_ids bigint[])
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform
  from ledger.accounts as a
  where a.user_id = any (lock_more_traders.user_ids)
  order by a.id
  for no key update nowait;
end
$$;

comment on function trading.lock_more_traders(bigint[]) is
  'Locks more users when some are locked already. Waiting could deadlock, so a user who is busy '
  'is an error lock_not_available: the caller''s transaction starts over.';
