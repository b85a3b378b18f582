create or replace function identity.new_challenge(session_id bigint)
returns bytea
language plpgsql volatile
as $$
declare
  c_valid_for constant interval := '5 minutes';
  v_challenge bytea := sha256(
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
  );
  v_at timestamptz := core.now();
begin
  -- Each call removes more than it adds, so their number stays bounded without a worker, too.
  delete from identity.passkey_challenges as c
  where c.challenge = any (array(
    select x.challenge
    from identity.passkey_challenges as x
    where x.expires_at <= v_at
    order by x.expires_at
    limit 2
    for update skip locked
  ));
  insert into identity.passkey_challenges as c (challenge, session_id, created_at, expires_at)
  values (v_challenge, new_challenge.session_id, v_at, v_at + c_valid_for)
  on conflict on constraint passkey_challenges_are_one_for_each_session do update
  set challenge = excluded.challenge,
    created_at = excluded.created_at,
    expires_at = excluded.expires_at;
  return v_challenge;
end
$$;

comment on function identity.new_challenge(bigint) is
  'Makes a challenge, valid for 5 minutes: for a session, in place of the one before, or, with '
  'null, for a sign-in. Removes up to two that have expired. Locks: the challenge of the session.';
