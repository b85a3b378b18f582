create or replace function trading.lock_traders(user_ids bigint[])
returns void
language plpgsql
as $$
begin
  perform core.check_session();
  perform
  from trading.traders as t
  where t.user_id = any (lock_traders.user_ids)
  order by t.user_id
  for no key update;
end
$$;

comment on function trading.lock_traders(bigint[]) is
  'Locks users until the transaction ends, in ascending id. The row of a user in trading.traders '
  'is the lock. Errors: UNFIT_SESSION.';
