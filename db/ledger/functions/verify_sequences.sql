create or replace function ledger.verify_sequences()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'sequence has given out the ids of its tables', 'sequence ' || s.sequence_name,
    'at least ' || s.highest_id, s.last_id::text
  from core.lagging_sequences() as s
$$;

comment on function ledger.verify_sequences() is
  'The part of ledger.verify() about sequences: none would give out an id again. One row for each '
  'that would.';
