create or replace function admin.set_profile(
  user_id uuid,
  private boolean default null,
  leaderboard_opt_out boolean default null,
  display_name text default null,
  avatar_url text default null
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.user_id(set_profile.user_id);
  v_constraint text;
  v_column text;
begin
  update identity.users as u set
    private = coalesce(set_profile.private, u.private),
    leaderboard_opt_out = coalesce(set_profile.leaderboard_opt_out, u.leaderboard_opt_out),
    display_name = coalesce(set_profile.display_name, u.display_name),
    avatar_url = coalesce(set_profile.avatar_url, u.avatar_url)
  where u.id = v_user_id;
  if num_nonnulls(set_profile.private, set_profile.leaderboard_opt_out) > 0 then
    insert into leaderboard.profile_changes (user_id)
    values (v_user_id);
  end if;
  perform admin.audit('set_profile', jsonb_build_object(
    'user_id', set_profile.user_id,
    'private', set_profile.private,
    'leaderboard_opt_out', set_profile.leaderboard_opt_out,
    'display_name', set_profile.display_name,
    'avatar_url', set_profile.avatar_url
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_profile(uuid, boolean, boolean, text, text) is
  'Changes the given parts of a user''s profile; null leaves a part as it is. Errors: '
  'INVALID_REQUEST, NOT_FOUND. Locks: the row of the user in identity.users, for which no trading '
  'waits.';
