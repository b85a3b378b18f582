create or replace function identity.take_challenge(challenge bytea, session_id bigint)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with taken as (
    delete from identity.passkey_challenges as c
    where c.challenge = take_challenge.challenge
      and c.session_id is not distinct from take_challenge.session_id
      and c.expires_at > core.now()
    returning 1
  )
  select count(*) = 1 from taken
$$;

comment on function identity.take_challenge(bytea, bigint) is
  'Uses up a challenge that was made for this session of a user, or, with null, for a sign-in or '
  'for staff. False: it is unknown, expired or used, or was made for another session. Locks: its '
  'row.';
