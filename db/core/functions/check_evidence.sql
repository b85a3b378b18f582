create or replace function core.check_evidence(evidence text)
returns void
language plpgsql stable
as $$
begin
  if core.is_blank(check_evidence.evidence) or length(check_evidence.evidence) > 2000 then
    perform core.raise_error(
      'INVALID_REQUEST', 'The evidence must not be blank or longer than 2000 characters'
    );
  end if;
end
$$;

comment on function core.check_evidence(text) is
  'Checks the evidence that an operator gives for an outcome; null is none. Error: '
  'INVALID_REQUEST, for a blank one, and for more than 2,000 characters.';
