create or replace function identity.replace_password(
  user_id bigint, password_hash text, browser text, is_host_only boolean
)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  perform identity.set_password(replace_password.user_id, replace_password.password_hash);
  delete from identity.links as l
  where l.user_id = replace_password.user_id
    and l.kind in ('password_reset', 'sign_in'); -- mutant: sign_in_link_outlives_a_password
  perform identity.end_sessions(array(
    select s.id
    from identity.sessions as s
    where s.user_id = replace_password.user_id -- mutant: sessions_outlive_a_password
  ));
  perform identity.notify_user('password_changed', replace_password.user_id);
  return identity.open_session(
    replace_password.user_id, replace_password.browser, replace_password.is_host_only, null
  );
end
$$;

comment on function identity.replace_password(bigint, text, text, boolean) is
  'Sets a password, ends all sessions and links of the user, and opens a session, whose cookie it '
  'returns. Locks: the row of the password, the rows of links and sessions.';
