create or replace function api.list_ended_credentials(credential_ids uuid[])
returns setof uuid
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select i.id
  from unnest(list_ended_credentials.credential_ids) as i (id)
  where not exists (
    select
    from identity.api_keys as k
    where k.public_id = i.id
      and k.revoked_at is null
  )
  and not exists (
    select
    from identity.sessions as s
    where s.public_id = i.id
      and s.expires_at > core.now()
  )
$$;

comment on function api.list_ended_credentials(uuid[]) is
  'Those of the ids that belong neither to a valid API key nor to a session in force. For streams, '
  'which outlive the check of the request that opened them.';
