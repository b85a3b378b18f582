create or replace function identity.authenticate_staff_key(key_hash bytea)
returns table (staff_key_id uuid, name text, role text)
language plpgsql volatile
as $$
begin
  update identity.staff_keys as k
  set last_used_at = core.now()
  where k.key_hash = sha256(authenticate_staff_key.key_hash)
    and k.revoked_at is null
    and (k.last_used_at is null or k.last_used_at < core.now() - interval '1 minute');
  return query
  select k.public_id, k.name, k.role
  from identity.staff_keys as k
  left join identity.staff as m on m.id = k.staff_id
  where k.key_hash = sha256(authenticate_staff_key.key_hash)
    and k.revoked_at is null
    and m.removed_at is null;
end
$$;

comment on function identity.authenticate_staff_key(bytea) is
  'The name and role of the staff key with this SHA-256: one row, or none if it is unknown, '
  'revoked, or of a member of staff who was removed. Records its use, at most once a minute. '
  'Locks: the row of the key.';
