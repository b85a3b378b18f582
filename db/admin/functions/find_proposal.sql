create or replace function admin.find_proposal(proposal_id uuid)
returns admin.proposed_calls
language plpgsql stable
as $$
declare
  v_proposal admin.proposed_calls;
begin
  select p.* into v_proposal
  from admin.proposed_calls as p
  where p.public_id = find_proposal.proposal_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format(
      'There is no proposal %s', coalesce(find_proposal.proposal_id::text, 'null')
    ));
  end if;
  if v_proposal.status <> 'open' then
    perform core.raise_error('INVALID_STATE', format('The proposal was %s', v_proposal.status));
  end if;
  return v_proposal;
end
$$;

comment on function admin.find_proposal(uuid) is
  'A proposal that nobody has decided yet. Private to the schema. Errors: NOT_FOUND, INVALID_STATE '
  '(approved or rejected).';
