create or replace function admin.check_role(command text)
returns void
language plpgsql volatile
as $$
declare
  v_acting record;
  v_role text;
  v_proposal record;
begin
  perform core.check_session();
  select a.* into v_acting from identity.acting() as a;
  select c.role into strict v_role
  from admin.commands as c
  where c.command = check_role.command;
  select p.command, p.proposed_by, p.expires_at, c.role into v_proposal
  from admin.proposed_calls as p
  join admin.commands as c on c.command = p.command
  where p.is_running;
  if v_proposal.proposed_by <> v_acting.staff_id then
    if v_proposal.expires_at <= core.now() then
      perform core.raise_error('INVALID_STATE', 'The proposal has expired');
    end if;
    if exists (
      select
      from identity.staff as s
      where s.id = v_proposal.proposed_by
        and (s.removed_at is not null or v_role <> all (s.roles))
    ) then
      perform core.raise_error(
        'INVALID_STATE', format('Who proposed this does not have the role %s', v_role)
      );
    end if;
    if v_role = v_proposal.role then
      v_role := admin.approver_role(v_proposal.command);
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
  'Refuses a command of a member of staff who lacks the role for it. While a proposal is carried '
  'out, who approves it needs the role of admin.approver_role instead, and who proposed it still '
  'the one of the command; another role, which the arguments need, both have. Commands call it '
  'when they begin and, by admin.audit, once they have their locks. Those that change who may do '
  'what call it before they change it. Private to the schema. Errors: UNFIT_SESSION, '
  'UNAUTHORIZED, ROLE_REQUIRED, INVALID_STATE (the proposal has expired, or who proposed it lacks '
  'the role).';
