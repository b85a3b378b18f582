create or replace function identity.change_profile(
  user_id uuid, private boolean, leaderboard_opt_out boolean, display_name text, avatar_url text,
  handle text default null
)
returns void
language plpgsql volatile
as $$
declare
  v_user_id constant bigint := identity.user_id(change_profile.user_id);
  v_constraint text;
  v_column text;
begin
  if change_profile.avatar_url <> ''
    and (
      change_profile.avatar_url !~* '^https:' or not core.is_web_address(change_profile.avatar_url)
    )
  then
    perform core.raise_error(
      'INVALID_REQUEST',
      'The address of the picture must begin with https:// and have at most 2000 characters, '
      'without spaces, quotes and angle brackets; an empty one removes it'
    );
  end if;
  update identity.users as u set
    private = coalesce(change_profile.private, u.private),
    leaderboard_opt_out = coalesce(change_profile.leaderboard_opt_out, u.leaderboard_opt_out),
    display_name = coalesce(change_profile.display_name, u.display_name),
    avatar_url = nullif(coalesce(change_profile.avatar_url, u.avatar_url), ''),
    handle = coalesce(change_profile.handle, u.handle)
  where u.id = v_user_id;
  if num_nonnulls(change_profile.private, change_profile.leaderboard_opt_out) > 0 then
    insert into leaderboard.profile_changes (user_id)
    values (v_user_id);
  end if;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    perform identity.raise_taken('users_handle_is_unique');
end
$$;

comment on function identity.change_profile(uuid, boolean, boolean, text, text, text) is
  'Changes the given parts of a user''s profile. The address of the picture begins with https://, '
  'since everybody reads it; an empty one removes the picture. Errors: INVALID_REQUEST, NOT_FOUND, '
  'ALREADY_EXISTS (the handle). Locks: the row of the user in identity.users, for which no trading '
  'waits.';
