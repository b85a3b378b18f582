create or replace function admin.create_staff(
  email text, name text, roles text[], login text default null
)
returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_roles constant text[] := core.sorted(create_staff.roles);
  v_staff_id uuid;
  v_constraint text;
  v_column text;
begin
  perform admin.check_approval('create_staff');
  if create_staff.login is not null then
    if coalesce(current_setting('exchange.credential', true), '') <> '' then
      perform core.raise_error(
        'ROLE_REQUIRED', 'Only a login of the database can say whose a login is'
      );
    elsif not exists (
      select from pg_catalog.pg_roles as r where r.rolname = create_staff.login
    ) then
      perform core.raise_error(
        'NOT_FOUND', format('There is no login %L', create_staff.login)
      );
    elsif not identity.is_login_of_person(create_staff.login) then
      perform core.raise_error('INVALID_REQUEST', format(
        'The login %L must have exchange_operator, and be of no server, worker or superuser',
        create_staff.login
      ));
    elsif exists (
      select
      from admin.audit_log as a
      left join identity.staff as s on s.id = a.staff_id
      where a.operator = create_staff.login
        and coalesce(a.staff_key, a.staff_id::text) is not null
        and s.login is distinct from create_staff.login
    ) then
      perform core.raise_error('INVALID_REQUEST', format(
        'The login %L is of a server of staff: others have acted in it by keys or sessions',
        create_staff.login
      ));
    end if;
  end if;
  insert into identity.staff (email, name, roles, login, created_at)
  values (create_staff.email, create_staff.name, v_roles, create_staff.login, core.now())
  returning public_id into v_staff_id;
  perform identity.queue_mail('staff_invitation', null, create_staff.email);
  perform admin.audit('create_staff', jsonb_build_object(
    'email', create_staff.email,
    'name', create_staff.name,
    'roles', v_roles,
    'login', create_staff.login,
    'staff_id', v_staff_id
  ));
  return v_staff_id;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
  when unique_violation then
    perform core.raise_error(
      'ALREADY_EXISTS', 'A member of staff has this e-mail address or login already'
    );
end
$$;

comment on function admin.create_staff(text, text, text[], text) is
  'Makes a member of staff with these roles: markets, cash, users, incidents, audit (reads only), '
  'staff. A mail has a link, good for 3 days, to set the password and a passkey. The login, if '
  'given, is the login of the database that is the same person: one with exchange_operator that is '
  'of no server, worker or superuser, and in which nobody else has acted by a key or a session. '
  'Errors: ROLE_REQUIRED (also for a login that a session or a key gives), APPROVAL_REQUIRED, '
  'INVALID_REQUEST, NOT_FOUND (the login), ALREADY_EXISTS.';
