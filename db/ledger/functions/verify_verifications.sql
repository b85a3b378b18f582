create or replace function ledger.verify_verifications()
returns table (name text, object text, expected text, found text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'verification has the first rows that it found', 'verification ' || v.id,
    least(v.broken_count, 20) || ' rows', jsonb_array_length(v.first_rows) || ' rows'
  from ledger.verifications as v
  where jsonb_array_length(v.first_rows) <> least(v.broken_count, 20)
$$;

comment on function ledger.verify_verifications() is
  'The part of ledger.verify() about what its earlier runs left. What they found cannot be '
  'computed again. One row for each broken invariant.';
