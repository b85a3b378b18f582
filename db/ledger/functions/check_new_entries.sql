create or replace function ledger.check_new_entries()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_journal_id bigint;
begin
  select e.journal_id into v_journal_id
  from new_entries as e
  group by e.journal_id
  having sum(e.amount_cents) <> 0
  limit 1;

  if v_journal_id is not null then
    perform core.raise_error(
      'INVALID_STATE',
      format('The entries of journal %s do not sum to zero', v_journal_id)
    );
  end if;
  return null;
end
$$;

comment on function ledger.check_new_entries() is
  'Trigger: the entries of each journal, inserted by one statement, sum to zero.';
