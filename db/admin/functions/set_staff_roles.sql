create or replace function admin.set_staff_roles(staff_id uuid, roles text[])
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_roles constant text[] := core.sorted(set_staff_roles.roles);
  v_member identity.staff;
  v_constraint text;
  v_column text;
begin
  perform admin.check_approval('set_staff_roles');
  v_member := identity.lock_staff(set_staff_roles.staff_id);
  -- Before it: a member may give up the role that this needs.
  perform admin.audit('set_staff_roles', jsonb_build_object(
    'staff_id', set_staff_roles.staff_id,
    'roles', v_roles,
    'before', v_member.roles
  ));
  update identity.staff as s
  set roles = v_roles
  where s.id = v_member.id;
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
    perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_staff_roles(uuid, text[]) is
  'Sets the roles of a member of staff, at once and in open sessions too. To take them all, remove '
  'the member. Errors: APPROVAL_REQUIRED, INVALID_REQUEST, NOT_FOUND, UNFIT_SESSION. Locks: the '
  'member.';
