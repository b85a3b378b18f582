create or replace function ledger.head()
returns json
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object(
    'block', b.number,
    'count', b.row_count,
    'hash', encode(b.hash, 'hex'),
    'previousHash', encode(b.previous_hash, 'hex'),
    'sealedThrough', core.iso8601(b.sealed_through),
    'createdAt', core.iso8601(b.created_at)
  )
  from (select) as always
  left join (
    select l.*
    from ledger.blocks as l
    order by l.number desc
    limit 1
  ) as b on true
$$;

comment on function ledger.head() is
  'The last block of history, as GET /proofs/head and a webhook show it, with hashes in '
  'hexadecimal digits. All null before the first block.';
