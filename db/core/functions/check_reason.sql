create or replace function core.check_reason(reason text)
returns void
language plpgsql stable
as $$
begin
  if core.is_blank(coalesce(check_reason.reason, '')) or length(check_reason.reason) > 1000 then
    perform core.raise_error('INVALID_REQUEST', 'A reason of at most 1000 characters is required');
  end if;
end
$$;

comment on function core.check_reason(text) is
  'Checks the reason that an operator gives for a command. Error: INVALID_REQUEST, for none, for '
  'a blank one, and for more than 1,000 characters.';
