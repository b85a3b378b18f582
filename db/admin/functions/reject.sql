create or replace function admin.reject(proposal_id uuid, reason text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_proposal admin.proposed_calls;
  v_acting record;
  v_role text;
  v_reason text := reject.reason;
begin
  perform core.check_session();
  perform identity.lock_acting();
  v_proposal := admin.lock_proposal(reject.proposal_id);
  v_role := admin.approver_role(v_proposal.command);
  select a.* into v_acting from identity.acting() as a;
  if (v_proposal.proposed_by = v_acting.staff_id or v_role = any (v_acting.roles)) is not true then
    perform core.raise_error(
      'ROLE_REQUIRED', format('Only a member of staff with the role %s can decide this', v_role)
    );
  end if;
  perform core.check_reason(reject.reason);
  -- Nothing takes away later what is written about a user who was erased.
  if exists (
    select
    from identity.users as u
    where u.public_id = coalesce(
        v_proposal.arguments ->> 'user_id', admin.only_user_of(v_proposal.basis)
      )::uuid
      and u.erased_at is not null
  ) then
    v_reason := 'erased';
  end if;
  update admin.proposed_calls as p set
    status = 'rejected',
    decided_by = v_acting.staff_id,
    decided_at = core.now(),
    rejection = v_reason
  where p.id = v_proposal.id;
  perform admin.audit('reject', jsonb_build_object(
    'proposal_id', reject.proposal_id,
    'reason', v_reason
  ) || jsonb_strip_nulls(jsonb_build_object('user_id', admin.only_user_of(v_proposal.basis))));
end
$$;

comment on function admin.reject(uuid, text) is
  'Rejects a proposal for good, an expired one too. Who proposed it may do so, to take it back. '
  'Of a proposal about a user who was erased, the reason that is kept is ''erased''. Errors: '
  'NOT_FOUND, INVALID_STATE (decided), ROLE_REQUIRED, INVALID_REQUEST, UNFIT_SESSION. Locks: the '
  'member of staff who acts, the proposal.';
