create or replace function api.get_staff_link(token_hash bytea)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_link json;
begin
  select json_build_object('staffId', s.public_id, 'email', s.email, 'name', s.name) into v_link
  from identity.links as l
  join identity.staff as s on s.id = l.staff_id
  where l.token_hash = get_staff_link.token_hash
    and l.expires_at > core.now()
    and s.removed_at is null;
  if not found then
    perform core.raise_error('INVALID_LINK');
  end if;
  return v_link;
end
$$;

comment on function api.get_staff_link(bytea) is
  'Whom an invitation of staff is for: staffId (which passkeys are made for), email and name. It '
  'changes nothing. Errors: INVALID_LINK.';
