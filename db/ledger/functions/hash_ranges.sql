-- A range is a range of an index. Estimates of how many rows it has may be wrong.
create or replace function ledger.hash_ranges(
  relation regclass, blocks ledger.blocks[], ranges ledger.block_ranges[]
)
returns table (block_number bigint, row_count bigint, hash bytea)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set bytea_output = 'hex'
--!include planner/hash_joins.sql
as $$
begin
  return query execute format(
    'select r.block_number, c.row_count, c.hash
     from unnest($1) as b
     join unnest($2) as r on r.block_number = b.number
     cross join lateral (
       select
         count(*) as row_count,
         sha256(coalesce(string_agg(h.hash, '''' order by h.id, h.hash), '''')) as hash
       from (
         select q.id, sha256(convert_to(q.line, ''UTF8'')) as hash from (%s) as q
       ) as h
     ) as c',
    ledger.rows_of_range(hash_ranges.relation)
  )
  using hash_ranges.blocks, hash_ranges.ranges;
end
$$;

comment on function ledger.hash_ranges(regclass, ledger.blocks[], ledger.block_ranges[]) is
  'The rows of a sealed table as they are now, counted and hashed for each of these ranges of it. '
  'The hash of a row is the SHA-256 of its canonical text in UTF-8. The hash of a range is the '
  'SHA-256 of the hashes of its rows, one after another, by ascending id and then by hash.';
