create or replace function identity.ways_in(user_id bigint)
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'sessions', (
      select count(*)
      from identity.sessions as s
      where s.user_id = ways_in.user_id and s.expires_at > core.now()
    ),
    'passkeys', (
      select count(*) from identity.passkeys as p where p.user_id = ways_in.user_id
    ),
    'apiKeys', (
      select count(*)
      from identity.api_keys as k
      where k.user_id = ways_in.user_id and identity.is_key_in_force(k)
    )
  )
$$;

comment on function identity.ways_in(bigint) is
  'How many sessions, passkeys and API keys of a user are in force.';
