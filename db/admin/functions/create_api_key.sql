create or replace function admin.create_api_key(user_id uuid, name text)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := identity.new_api_key('jk_');
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(convert_to(v_key, 'UTF8'));
  v_key_id uuid;
  v_constraint text;
  v_column text;
begin
  insert into identity.api_keys (user_id, name, key_hash)
  values (identity.user_id(create_api_key.user_id), create_api_key.name, v_key_hash)
  returning public_id into v_key_id;
  perform admin.audit('create_api_key', jsonb_build_object(
    'user_id', create_api_key.user_id,
    'name', create_api_key.name,
    'key_id', v_key_id
  ));
  return v_key;
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.create_api_key(uuid, text) is
  'Makes an API key and returns it; it is not kept and can never be shown again. Errors: '
  'INVALID_REQUEST, NOT_FOUND.';
