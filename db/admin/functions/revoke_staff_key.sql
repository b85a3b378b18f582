create or replace function admin.revoke_staff_key(key_id uuid)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform admin.check_role('revoke_staff_key');
  perform identity.lock_acting();
  update identity.staff_keys as k
  set revoked_at = coalesce(k.revoked_at, core.now())
  where k.public_id = revoke_staff_key.key_id;
  if not found then
    perform core.raise_error(
      'NOT_FOUND', format('There is no staff key %s', revoke_staff_key.key_id)
    );
  end if;
  perform admin.audit('revoke_staff_key', jsonb_build_object('key_id', revoke_staff_key.key_id));
end
$$;

comment on function admin.revoke_staff_key(uuid) is
  'Revokes the key of an analyst or an operator, at once; a call under way by it goes on. Revoking '
  'it again changes nothing. Errors: NOT_FOUND. Locks: the member of staff who acts, then the row '
  'of the key.';
