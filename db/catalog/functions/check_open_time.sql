create or replace function catalog.check_open_time(open_time timestamptz)
returns void
language plpgsql
as $$
begin
  if check_open_time.open_time <= core.now() then
    perform core.raise_error('INVALID_REQUEST', format(
      'The open time must be in the future, and %s is not', check_open_time.open_time
    ));
  end if;
end
$$;

comment on function catalog.check_open_time(timestamptz) is
  'Checks an open time that an operator gives to a market; null is none. Errors: INVALID_REQUEST.';
