create or replace function jobs.seal_history()
returns table (row_count bigint, block bigint, hash text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  row_count := ledger.seal();
  select b.number, encode(b.hash, 'hex') into seal_history.block, seal_history.hash
  from ledger.blocks as b
  order by b.number desc
  limit 1;
  return next;
end
$$;

comment on function jobs.seal_history() is
  'Seals rows of history that are new (ledger.seal): how many, and the last block with its hash in '
  'hexadecimal digits; null before the first block. A result of 10,000 rows or more means that '
  'there may be more. Errors: UNFIT_SESSION. Locks: those of ledger.seal.';
