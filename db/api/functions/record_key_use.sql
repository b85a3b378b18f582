create or replace function api.record_key_use(api_key_id uuid)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  update identity.api_keys as k
  set last_used_at = core.now()
  where k.public_id = record_key_use.api_key_id
    and (k.last_used_at is null or k.last_used_at < core.now() - interval '1 minute')
$$;

comment on function api.record_key_use(uuid) is
  'Records the use of an API key, at most once a minute. Locks: the row of the key.';
