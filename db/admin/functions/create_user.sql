create or replace function admin.create_user(email text, display_name text, handle text)
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user identity.users;
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('create_user');
  insert into identity.users (email, display_name, handle)
  values (create_user.email, create_user.display_name, create_user.handle)
  returning * into v_user;
  insert into trading.traders (user_id, public_id) values (v_user.id, v_user.public_id);

  perform admin.audit('create_user', jsonb_build_object(
    'user_id', v_user.public_id,
    'email', create_user.email,
    'display_name', create_user.display_name,
    'handle', create_user.handle
  ));
  return v_user.public_id;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    perform core.raise_error(
      'ALREADY_EXISTS', 'A user with this e-mail address or handle already exists'
    );
end
$$;

comment on function admin.create_user(text, text, text) is
  'Makes a user without cash and with loss limits not reviewed yet. Returns the id. '
  'Errors: INVALID_REQUEST, ALREADY_EXISTS.';
