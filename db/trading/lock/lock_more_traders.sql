create or replace function trading.lock_more_traders(user_ids bigint[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from trading.traders as t
  where t.user_id = any (lock_more_traders.user_ids)
  order by t.user_id
  for no key update nowait;
end
$$;

comment on function trading.lock_more_traders(bigint[]) is
  'Locks users when others are locked already. Waiting could deadlock, so a user who is locked '
  'elsewhere is an error (lock_not_available): the caller''s transaction must be repeated.';
