create or replace function ledger.refuse_change()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform core.raise_error(
    'INVALID_STATE',
    format(
      'The table %I.%I is append-only: %s is not allowed',
      tg_table_schema, tg_table_name, lower(tg_op)
    )
  );
  return null;
end
$$;

comment on function ledger.refuse_change() is
  'Trigger of append-only tables: every update, delete and truncate is an error, also for the '
  'owner.';
