create or replace function catalog.check_close_time(close_time timestamptz)
returns void
language plpgsql
as $$
begin
  if check_close_time.close_time = 'infinity' then
    perform core.raise_error(
      'INVALID_REQUEST', 'The close time must not be infinity; null means that there is none'
    );
  elsif check_close_time.close_time <= core.now() then
    perform core.raise_error('INVALID_REQUEST', format(
      'The close time must be in the future, and %s is not', check_close_time.close_time
    ));
  end if;
end
$$;

comment on function catalog.check_close_time(timestamptz) is
  'Checks a close time that an operator gives to a market; null is none. Errors: INVALID_REQUEST.';
