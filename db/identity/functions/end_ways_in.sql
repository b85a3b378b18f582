create or replace function identity.end_ways_in(user_id bigint)
returns void
language plpgsql volatile
as $$
begin
  update identity.users as u
  set browser_generation = u.browser_generation + 1
  where u.id = end_ways_in.user_id;
  delete from identity.passkeys as p
  where p.user_id = end_ways_in.user_id;
  perform identity.end_sessions(array(
    select s.id from identity.sessions as s where s.user_id = end_ways_in.user_id
  ));
  perform identity.revoke_api_keys(array(
    select k.id
    from identity.api_keys as k
    where k.user_id = end_ways_in.user_id
      and identity.is_key_in_force(k)
  ));
end
$$;

comment on function identity.end_ways_in(bigint) is
  'Ends all sessions, passkeys and API keys of a user, and knows none of the browsers any more in '
  'which the user signed in. The caller has locked the account. Locks: '
  'their rows.';
