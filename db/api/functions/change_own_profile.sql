create or replace function api.change_own_profile(
  user_id uuid,
  session_id uuid,
  display_name text default null,
  handle text default null,
  avatar_url text default null,
  private boolean default null,
  leaderboard_opt_out boolean default null
)
returns json
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.lock_session(
    change_own_profile.user_id, change_own_profile.session_id
  );
  v_is_claimed boolean;
  v_constraint text;
  v_column text;
begin
  perform identity.check_not_frozen(v_user_id);
  update identity.email_claims as c
  set handle = coalesce(change_own_profile.handle, c.handle)
  where c.user_id = v_user_id
    and c.handle is not null;
  v_is_claimed := found;
  perform identity.change_profile(
    change_own_profile.user_id, change_own_profile.private,
    change_own_profile.leaderboard_opt_out, change_own_profile.display_name,
    change_own_profile.avatar_url,
    case when not v_is_claimed then change_own_profile.handle end
  );
  return api.get_own_profile(change_own_profile.user_id);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function api.change_own_profile(uuid, uuid, text, text, text, boolean, boolean) is
  'Changes what is given of a user''s own profile, and returns the body of GET /api/account. An '
  'empty avatar_url removes the picture. Before the e-mail address is confirmed, a handle is only '
  'asked for: whether it is taken is not said. Errors: UNAUTHORIZED, ACCOUNT_FROZEN, '
  'INVALID_REQUEST, ALREADY_EXISTS (the handle), UNFIT_SESSION. Locks: the account; the session, '
  'shared; the claim.';
