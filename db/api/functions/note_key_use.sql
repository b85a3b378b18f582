create or replace function api.note_key_use(api_key_id uuid, address inet default null)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update identity.api_keys as k
  set last_used_at = core.now(),
    last_used_address = identity.plain_address(note_key_use.address)
  where k.public_id = note_key_use.api_key_id
    and k.revoked_at is null
    and (k.last_used_at is null or k.last_used_at < core.now() - interval '1 minute');
end
$$;

comment on function api.note_key_use(uuid, inet) is
  'Records the use of an API key and from where it came, at most once a minute. Locks: the row of '
  'the key.';
