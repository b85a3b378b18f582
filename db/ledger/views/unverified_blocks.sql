create or replace view ledger.unverified_blocks as
select
  s.through_block + 1 as first_block,
  greatest(h.number - s.through_block, 0) as block_count,
  (
    select b.created_at
    from ledger.blocks as b
    where b.number > s.through_block
    order by b.number
    limit 1
  ) as oldest_at
from (
  select
    coalesce(
      (
        select v.verified_block
        from ledger.verifications as v
        where v.broken_count = 0
        order by v.id desc
        limit 1
      ),
      0
    ) as through_block
) as s
cross join (select coalesce(max(b.number), 0) as number from ledger.blocks as b) as h;

comment on view ledger.unverified_blocks is
  'One row: the blocks of history after the last that a sound run of jobs.verify_ledger() '
  'verified. Cost: a few rows, however many blocks there are.';
comment on column ledger.unverified_blocks.first_block is
  'The number of the first of them, or of the next block if there is none.';
comment on column ledger.unverified_blocks.block_count is 'How many.';
comment on column ledger.unverified_blocks.oldest_at is
  'When the first of them was sealed; null: there is none.';
