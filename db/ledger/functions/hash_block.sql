create or replace function ledger.hash_block(
  block ledger.blocks, ranges ledger.block_ranges[]
)
returns bytea
language plpgsql stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set bytea_output = 'hex'
as $$
declare
  v_block text;
  v_ranges text;
begin
  block.hash := null;
  execute format(
    'select %s from (select ($1).*) as t', ledger.canonical_row('ledger.blocks')
  )
  into v_block using block;
  execute format(
    'select string_agg(chr(10) || %s, '''' order by t.table_name collate "C") from unnest($1) as t',
    ledger.canonical_row('ledger.block_ranges')
  )
  into v_ranges using ranges;
  return sha256(convert_to(v_block || v_ranges, 'UTF8'));
end
$$;

comment on function ledger.hash_block(ledger.blocks, ledger.block_ranges[]) is
  'The hash of a block: the SHA-256 of its canonical text without the hash, and of those of its '
  'ranges in the order of their tables, in UTF-8, each on a line of its own (the last without an '
  'end of line).';
