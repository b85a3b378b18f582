create or replace function admin.approve(proposal_id uuid)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_proposal admin.proposed_calls;
  v_acting record;
  v_role text;
  v_basis jsonb;
  v_result jsonb;
begin
  perform core.check_session();
  v_proposal := admin.find_proposal(approve.proposal_id);
  select a.* into v_acting from identity.acting() as a;
  if v_acting.staff_id is null then
    perform core.raise_error('ROLE_REQUIRED', 'Only a member of staff can decide this');
  end if;
  if v_proposal.proposed_by = v_acting.staff_id then
    perform core.raise_error('OWN_PROPOSAL');
  end if;

  v_role := admin.approver_role(v_proposal.command);
  if v_role <> all (v_acting.roles) then
    perform core.raise_error(
      'ROLE_REQUIRED', format('Only a member of staff with the role %s can decide this', v_role)
    );
  end if;

  -- Its locks come before the proposal's, as in admin.erase_user.
  v_basis := admin.basis(v_proposal.command, v_proposal.arguments);
  v_proposal := admin.lock_proposal(approve.proposal_id);
  update admin.proposed_calls as p
  set is_running = true
  where p.id = v_proposal.id;
  perform admin.check_role(v_proposal.command);
  if v_basis <> v_proposal.basis then
    perform core.raise_error('PROPOSAL_CHANGED');
  end if;
  select c.result into v_result
  from admin.carry_out(v_proposal.command, v_proposal.arguments) as c;
  update admin.proposed_calls as p set
    is_running = false,
    status = 'approved',
    decided_by = v_acting.staff_id,
    decided_at = core.now(),
    result = case when not c.returns_secret then v_result end
  from admin.commands as c
  where c.command = p.command
    and p.id = v_proposal.id;
  perform admin.audit('approve', jsonb_build_object('proposal_id', approve.proposal_id));
  return v_result;
end
$$;

comment on function admin.approve(uuid) is
  'Approves a proposal of another member of staff and carries it out; returns what the command '
  'returns, or null for nothing; a secret is not kept. If the command fails, the proposal stays '
  'open. Errors: NOT_FOUND, INVALID_STATE (decided or expired; or who proposed it has lost the '
  'role for it), OWN_PROPOSAL, '
  'ROLE_REQUIRED, PROPOSAL_CHANGED (its basis is not what it was), and all of the command. Roles '
  'and expiry count once it has its locks. Locks: those of admin.basis, the proposal, those of '
  'the command.';
