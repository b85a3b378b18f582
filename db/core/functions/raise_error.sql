create or replace function core.raise_error(code text, message text default null)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error core.error_codes;
begin
  select * into strict v_error
  from core.error_codes as e
  where e.code = raise_error.code;

  raise exception using
    errcode = v_error.sqlstate,
    message = coalesce(raise_error.message, v_error.message),
    detail = v_error.code;
end
$$;

comment on function core.raise_error(text, text) is
  'Raises the error of that code: its SQLSTATE, the message given or its own, the code as detail.';
