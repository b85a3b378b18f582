create or replace function admin.revoke_api_key(key_id uuid)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key_id bigint;
begin
  perform admin.check_role('revoke_api_key');
  select k.id into v_key_id
  from identity.api_keys as k
  where k.public_id = revoke_api_key.key_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('There is no API key %s', revoke_api_key.key_id));
  end if;
  perform identity.revoke_api_keys(array[v_key_id]);
  perform admin.audit('revoke_api_key', jsonb_build_object('key_id', revoke_api_key.key_id));
end
$$;

comment on function admin.revoke_api_key(uuid) is
  'Revokes an API key, and writes an api_key_revoked event for the servers. Revoking it again '
  'changes nothing. Errors: NOT_FOUND. Locks: the row of the key.';
