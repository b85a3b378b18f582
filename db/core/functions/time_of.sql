create or replace function core.time_of(text text)
returns timestamptz
language plpgsql stable
as $$
begin
  return time_of.text::timestamptz;
exception when data_exception then
  return null;
end
$$;

comment on function core.time_of(text) is 'The time that a text names; null if it names none.';
