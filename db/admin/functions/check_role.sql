create or replace function admin.check_role(command text)
returns void
language plpgsql volatile
as $$
declare
  v_acting record;
  v_role text;
begin
  select a.* into v_acting from identity.acting() as a;
  if v_acting.staff_id is null
    or exists (select from admin.proposed_calls as p where p.is_running)
  then
    return;
  end if;
  select c.role into strict v_role
  from admin.commands as c
  where c.command = check_role.command;
  if v_role <> all (v_acting.roles) then
    perform core.raise_error(
      'ROLE_REQUIRED', format('Only a member of staff with the role %s can call this', v_role)
    );
  end if;
end
$$;

comment on function admin.check_role(text) is
  'Refuses a command of a member of staff who lacks the role for it. A proposal that is carried '
  'out was checked before. Commands that change who may do what call it before they change it. '
  'Private to the schema. Errors: UNAUTHORIZED, ROLE_REQUIRED.';
