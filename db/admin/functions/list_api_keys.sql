create or replace function admin.list_api_keys(user_id uuid)
returns table (
  id uuid, name text, created_at timestamptz, last_used_at timestamptz, revoked_at timestamptz
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.user_id(list_api_keys.user_id);
begin
  perform admin.audit('list_api_keys', jsonb_build_object('user_id', list_api_keys.user_id));
  return query
  select k.public_id, k.name, k.created_at, k.last_used_at, k.revoked_at
  from identity.api_keys as k
  where k.user_id = v_user_id
  order by k.id;
end
$$;

comment on function admin.list_api_keys(uuid) is
  'The API keys of a user, oldest first, revoked ones too. Errors: NOT_FOUND.';
