create or replace function ledger.sealed_ids(before_block bigint default 9223372036854775807)
returns table (sequence_name text, through_id bigint)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.sequence_name, max(r.through_id)
  from ledger.sealed_tables as s
  left join lateral (
    select l.through_id
    from ledger.block_ranges as l
    where l.table_name = s.table_name
      and l.block_number < sealed_ids.before_block
    order by l.block_number desc
    limit 1
  ) as r on true
  group by s.sequence_name
$$;

comment on function ledger.sealed_ids(bigint) is
  'The ids up to which the blocks before this one seal the tables of each sequence; null: none.';
