create or replace function core.raise_violation(constraint_name text, column_name text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform core.raise_error('INVALID_REQUEST', case
    when constraint_name <> '' then 'it must hold that ' || replace(constraint_name, '_', ' ')
    else replace(column_name, '_', ' ') || ' is required'
  end);
end
$$;

comment on function core.raise_violation(text, text) is
  'Raises INVALID_REQUEST for a value that a constraint refused. Constraints are named so that '
  'they read as what must hold; a column that is null has no constraint name.';
