create or replace function admin.lock_proposal(proposal_id uuid)
returns admin.proposed_calls
language plpgsql volatile
as $$
begin
  perform
  from admin.proposed_calls as p
  where p.public_id = lock_proposal.proposal_id
  for no key update;
  return admin.find_proposal(lock_proposal.proposal_id);
end
$$;

comment on function admin.lock_proposal(uuid) is
  'Locks a proposal that nobody has decided yet, and returns the row. Private to the schema. '
  'Errors: those of admin.find_proposal. Locks: the row, after accounts and members of staff.';
