create or replace function api.get_history_metrics()
returns table (
  sealed_block bigint,
  oldest_unsealed_age_seconds double precision,
  unverified_blocks bigint,
  oldest_unverified_age_seconds double precision
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    (select max(b.number) from ledger.blocks as b),
    coalesce(
      (
        select greatest(0, extract(epoch from core.now() - min(u.oldest_at)))
        from ledger.unsealed_rows() as u
      ),
      0
    ),
    u.block_count,
    coalesce(greatest(0, extract(epoch from core.now() - u.oldest_at)), 0)
  from ledger.unverified_blocks as u
$$;

comment on function api.get_history_metrics() is
  'One row of figures for monitoring: the last block of history (null: there is none), and the age '
  'of the oldest row that no block has yet (0: there is none). Then the blocks that no sound run '
  'of jobs.verify_ledger() verified yet, and the age of the oldest. It reads at most 10,000 rows '
  'of each table of history, and a row of each open order.';
