create or replace function api.record_key_use(api_key_id uuid)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select api.note_key_use(api_key_id => record_key_use.api_key_id)
$$;

comment on function api.record_key_use(uuid) is
  'For servers of version 0.2.0: api.note_key_use without an address. Locks: the row of the key.';
