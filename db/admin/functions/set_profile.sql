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
begin
  perform admin.check_role('set_profile');
  perform identity.lock_account_to_change(identity.user_id(set_profile.user_id));
  perform identity.change_profile(
    set_profile.user_id, set_profile.private, set_profile.leaderboard_opt_out,
    set_profile.display_name, set_profile.avatar_url
  );
  perform admin.audit('set_profile', jsonb_build_object(
    'user_id', set_profile.user_id,
    'private', set_profile.private,
    'leaderboard_opt_out', set_profile.leaderboard_opt_out,
    'display_name', set_profile.display_name,
    'avatar_url', set_profile.avatar_url
  ));
end
$$;

comment on function admin.set_profile(uuid, boolean, boolean, text, text) is
  'Changes the given parts of a user''s profile; null leaves a part as it is, '
  'and an empty avatar_url removes the picture. Errors: INVALID_REQUEST, NOT_FOUND, INVALID_STATE '
  '(erased). Locks: the row of the user in identity.users, for which no trading waits.';
