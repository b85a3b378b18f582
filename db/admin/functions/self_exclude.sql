create or replace function admin.self_exclude(
  user_id uuid, until timestamptz default 'infinity'
)
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cancelled int;
begin
  perform admin.check_role('self_exclude');
  v_cancelled := trading.exclude(self_exclude.user_id, self_exclude.until);
  perform admin.audit('self_exclude', jsonb_build_object(
    'user_id', self_exclude.user_id,
    'until', self_exclude.until
  ));
  return v_cancelled;
end
$$;

comment on function admin.self_exclude(uuid, timestamptz) is
  'Excludes a user from trading until a time and ends all their open orders (self_excluded), as '
  'trading.stop_user_orders does; returns how many. It is the user''s own decision, and only '
  'admin.end_self_exclusion ends it: to stop an account, use admin.freeze_user. Errors: NOT_FOUND, '
  'INVALID_REQUEST (an earlier end than the one in force). Locks: as '
  'trading.lock_user_with_markets.';
