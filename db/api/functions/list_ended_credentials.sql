create or replace function api.list_ended_credentials(credential_ids uuid[])
returns setof uuid
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select e.credential_id
  from api.list_credential_ends(
    credential_ids => list_ended_credentials.credential_ids
  ) as e
  where e.ends_in_ms = 0
$$;

comment on function api.list_ended_credentials(uuid[]) is
  'For servers of version 0.2.0: those of the ids that belong neither to a valid API key nor to a '
  'session in force.';
