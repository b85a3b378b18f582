create or replace function api.confirm_own_age(user_id uuid, session_id uuid, confirmed_age int)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.lock_session(
    confirm_own_age.user_id, confirm_own_age.session_id
  );
begin
  perform risk.confirm_age(v_user_id, confirm_own_age.confirmed_age);
  return api.get_own_profile(confirm_own_age.user_id);
end
$$;

comment on function api.confirm_own_age(uuid, uuid, int) is
  'Notes that a user has reached the minimum age of the exchange, and returns the body of '
  'GET /api/account. It changes nothing where there is no minimum age, or it was confirmed before. '
  'Errors: UNAUTHORIZED, AGE_NOT_CONFIRMED, UNFIT_SESSION. Locks: the account; the session, '
  'shared; the user.';
