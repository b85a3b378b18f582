create or replace function ledger.blocks_to_verify("full" boolean)
returns table (first_block bigint, last_block bigint)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with sound as (
    select case when blocks_to_verify."full" then 0 else u.first_block - 1 end as through_block
    from ledger.unverified_blocks as u
  ),
  last_run as (
    select coalesce(max(v.started_at), '-infinity') as started_at
    from (
      select l.started_at from ledger.verifications as l order by l.id desc limit 1
    ) as v
  )
  select s.through_block + 1, coalesce(max(n.number), s.through_block)
  from sound as s
  left join lateral (
    select
      b.number,
      sum(b.row_count) over (order by b.number) - b.row_count as rows_before,
      sum(b.row_count) filter (where b.created_at >= r.started_at) over () as new_rows
    from ledger.blocks as b
    cross join last_run as r
    where b.number > s.through_block
  ) as n
    -- Twice what is new, so that each run leaves less than the one before, however much is sealed.
    on blocks_to_verify."full" or n.rows_before < greatest(1000000, 2 * n.new_rows)
  group by s.through_block
$$;

comment on function ledger.blocks_to_verify(boolean) is
  'The blocks that ledger.verify() recomputes: from the one after the last that a sound run of '
  'jobs.verify_ledger() verified, as many as have a million rows, or twice the rows sealed since '
  'the last run began if that is more; or all of them.';
