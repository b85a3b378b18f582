create or replace function admin.list_staff_keys()
returns table (
  id uuid,
  name text,
  role text,
  created_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform admin.audit('list_staff_keys', '{}');
  return query
  select
    k.public_id, k.name, k.role, k.created_at, k.last_used_at,
    coalesce(k.revoked_at, m.removed_at)
  from identity.staff_keys as k
  left join identity.staff as m on m.id = k.staff_id
  order by k.id;
end
$$;

comment on function admin.list_staff_keys() is
  'The keys of analysts and operators, oldest first, revoked ones too.';
