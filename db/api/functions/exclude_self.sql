create or replace function api.exclude_self(
  user_id uuid, session_id uuid, until timestamptz default null
)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.lock_session(
    exclude_self.user_id, exclude_self.session_id
  );
  v_cancelled int := trading.exclude(
    exclude_self.user_id, coalesce(exclude_self.until, 'infinity')
  );
  v_until json := json_build_object('until', core.iso8601(exclude_self.until));
begin
  perform identity.notify_user('self_excluded', v_user_id, v_until);
  return json_build_object(
    'until', core.iso8601(exclude_self.until),
    'cancelledOrders', v_cancelled
  );
end
$$;

comment on function api.exclude_self(uuid, uuid, timestamptz) is
  'Excludes a user from trading until a time, null for good, as they ask, and ends all their open '
  'orders, as trading.stop_user_orders does. A mail reports it. Errors: UNAUTHORIZED, '
  'INVALID_REQUEST (in the past, or earlier than the end in force), UNFIT_SESSION. Locks: the '
  'account; the session, shared; as trading.lock_user_with_markets.';
