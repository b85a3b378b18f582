create or replace function admin.lock_proposal(proposal_id uuid)
returns admin.proposed_calls
language plpgsql volatile
as $$
declare
  v_proposal admin.proposed_calls;
begin
  perform core.check_session();
  select p.* into v_proposal
  from admin.proposed_calls as p
  where p.public_id = lock_proposal.proposal_id
  for no key update;
  if not found then
    perform core.raise_error('NOT_FOUND', format(
      'There is no proposal %s', coalesce(lock_proposal.proposal_id::text, 'null')
    ));
  end if;
  if v_proposal.status <> 'open' then
    perform core.raise_error('INVALID_STATE', format('The proposal was %s', v_proposal.status));
  end if;
  return v_proposal;
end
$$;

comment on function admin.lock_proposal(uuid) is
  'Locks a proposal that nobody has decided yet, before all else, and returns the row. Private to '
  'the schema. Errors: NOT_FOUND, INVALID_STATE (approved or rejected), UNFIT_SESSION. Locks: the '
  'row.';
