create or replace function admin.check_role(command text)
returns void
language plpgsql volatile
as $$
declare
  v_acting record;
  v_role text;
  v_proposal record;
begin
  select a.* into v_acting from identity.acting() as a;
  select c.role into strict v_role
  from admin.commands as c
  where c.command = check_role.command;
  select p.proposed_by, c.role into v_proposal
  from admin.proposed_calls as p
  join admin.commands as c on c.command = p.command
  where p.is_running;
  if found then
    if v_role is not distinct from v_proposal.role then
      return;
    end if;
    if v_proposal.proposed_by <> v_acting.staff_id and exists (
      select
      from identity.staff as s
      where s.id = v_proposal.proposed_by
        and v_role <> all (s.roles)
    ) then
      perform core.raise_error(
        'INVALID_STATE', format('Who proposed this does not have the role %s', v_role)
      );
    end if;
  end if;
  if v_role <> all (v_acting.roles) then
    perform core.raise_error(
      'ROLE_REQUIRED', format('Only a member of staff with the role %s can call this', v_role)
    );
  end if;
end
$$;

comment on function admin.check_role(text) is
  'Refuses a command of a member of staff who lacks the role for it. For a proposal that is '
  'carried out the role of its command was checked before; another role, which its arguments '
  'need, both have who proposed and who approves it. Commands that change who may do what call it '
  'before they change it. Private to the schema. Errors: UNAUTHORIZED, ROLE_REQUIRED, '
  'INVALID_STATE (who proposed it lacks the role).';
