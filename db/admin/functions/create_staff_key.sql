create or replace function admin.create_staff_key(name text, role text)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text := identity.new_api_key(
    case create_staff_key.role when 'operator' then 'jo_' else 'ja_' end
  );
  -- Made before the statement that writes it: logs of statements show their parameters.
  v_key_hash bytea := sha256(sha256(convert_to(v_key, 'UTF8')));
  v_key_id uuid;
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('create_staff_key');
  insert into identity.staff_keys (name, role, key_hash, staff_id)
  values (
    create_staff_key.name, create_staff_key.role, v_key_hash,
    (select a.staff_id from identity.acting() as a)
  )
  returning public_id into v_key_id;
  perform admin.audit('create_staff_key', jsonb_build_object(
    'name', create_staff_key.name,
    'role', create_staff_key.role,
    'key_id', v_key_id
  ));
  return v_key;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    perform core.raise_error(
      'ALREADY_EXISTS', format('A key with the name %L already exists', create_staff_key.name)
    );
end
$$;

comment on function admin.create_staff_key(text, text) is
  'Makes a key for an analyst (ja_) or an operator (jo_) and returns it; it is not kept and can '
  'never be shown again. A key that a member of staff makes is theirs and ends with them; who uses '
  'their operator''s key acts as that member. Errors: INVALID_REQUEST, ALREADY_EXISTS.';
