create or replace function ledger.blocks_to_verify("full" boolean)
returns table (first_block bigint, last_block bigint)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with sound as (
    select
      case when blocks_to_verify."full" then 0 else coalesce(
        (
          select v.verified_block
          from ledger.verifications as v
          where v.broken_count = 0
          order by v.id desc
          limit 1
        ),
        0
      ) end as through_block
  )
  select s.through_block + 1, coalesce(max(n.number), s.through_block)
  from sound as s
  left join lateral (
    select
      b.number,
      sum(b.row_count) over (order by b.number) - b.row_count as rows_before,
      sum(b.row_count) over () as rows_left
    from ledger.blocks as b
    where b.number > s.through_block
  ) as n on blocks_to_verify."full"
    or n.rows_before < greatest(1000000, n.rows_left / 2)
  group by s.through_block
$$;

comment on function ledger.blocks_to_verify(boolean) is
  'The blocks that ledger.verify() recomputes: from the one after the last that a sound run of '
  'jobs.verify_ledger() verified, as many as have a million rows, or half of the rows that are '
  'left, so that it catches up however many are sealed; or all of them.';
