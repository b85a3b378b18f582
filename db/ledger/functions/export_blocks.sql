create or replace function ledger.export_blocks(from_block bigint, through_block bigint)
returns table (line text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set bytea_output = 'hex'
--!include planner/hash_joins.sql
as $$
declare
  v_block ledger.blocks;
  v_range ledger.block_ranges;
  v_relation regclass;
begin
  for v_block in
    select b.* from ledger.blocks as b
    where b.number between export_blocks.from_block and export_blocks.through_block
    order by b.number
  loop
    return query execute format(
      'select ''block '' || %s from (select ($1).*) as t', ledger.canonical_row('ledger.blocks')
    )
    using v_block;
    return query execute format(
      'select ''range '' || %s from ledger.block_ranges as t where t.block_number = $1
       order by t.table_name collate "C"',
      ledger.canonical_row('ledger.block_ranges')
    )
    using v_block.number;
    for v_range in
      select r.* from ledger.block_ranges as r
      where r.block_number = v_block.number
      order by r.table_name collate "C"
    loop
      v_relation := v_range.table_name::regclass;
      return query execute format(
        'select $3 || q.line
         from (select ($1).*) as b
         cross join (select ($2).*) as r
         cross join lateral (%s) as q
         order by q.id, sha256(convert_to(q.line, ''UTF8''))',
        ledger.rows_of_range(v_relation)
      )
      using v_block, v_range, 'row ' || v_range.table_name || ' ';
    end loop;
  end loop;
end
$$;

comment on function ledger.export_blocks(bigint, bigint) is
  'The blocks from one number through another as lines of a file that examples/verify_history.mjs '
  'checks: of each block a line block, then its lines range, then its lines row with the table; '
  'each has the canonical text. The rows are those of now.';
