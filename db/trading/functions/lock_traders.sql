create or replace function trading.lock_traders(user_ids bigint[])
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform
  from ledger.accounts as a
  where a.user_id = any (lock_traders.user_ids)
  order by a.id
  for no key update;
end
$$;

comment on function trading.lock_traders(bigint[]) is
  'Locks users by their cash accounts, in ascending account id, until the transaction ends.';
