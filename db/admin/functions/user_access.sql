create or replace function admin.user_access(user_id uuid)
returns table (
  kind text, id uuid, name text, created_at timestamptz, last_used_at timestamptz,
  last_address inet, expires_at timestamptz
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant bigint := identity.user_id(user_access.user_id);
begin
  perform admin.audit('user_access', jsonb_build_object('user_id', user_access.user_id));
  return query
  select
    'session', s.public_id, s.browser, s.created_at, s.last_seen_at, s.last_address, s.expires_at
  from identity.sessions as s
  where s.user_id = v_user_id
    and s.expires_at > core.now()
  union all
  select
    'key', k.public_id, k.name, k.created_at, k.last_used_at, k.last_used_address, k.expires_at
  from identity.api_keys as k
  where k.user_id = v_user_id
    and identity.is_key_in_force(k)
  union all
  select
    'passkey', p.public_id, p.name, p.created_at, p.last_used_at, p.last_used_address, null
  from identity.passkeys as p
  where p.user_id = v_user_id
  order by 5 desc nulls last, 4 desc;
end
$$;

comment on function admin.user_access(uuid) is
  'What gives access to an account now: its sessions, API keys and passkeys (kind: session, key, '
  'passkey), the last used first. The name of a session is what its browser called itself. Of a '
  'passkey, the last use is the last sign-in. Errors: NOT_FOUND.';
