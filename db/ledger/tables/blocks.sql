create table ledger.blocks (
  number bigint primary key,
  created_at timestamptz not null,
  sealed_through timestamptz,
  row_count core.amount not null,
  open_order_ids bigint[] not null,
  ended_order_ids bigint[] not null,
  previous_hash bytea,
  hash bytea not null,
  constraint blocks_follow_one_another check ((number = 1) = (previous_hash is null)),
  constraint blocks_have_hashes_of_32_bytes
    check (length(hash) = 32 and length(previous_hash) = 32)
);

create trigger blocks_are_append_only
  before update or delete or truncate on ledger.blocks
  for each statement execute function ledger.refuse_change();

comment on table ledger.blocks is
  'The seals of history, a chain: each block has a hash of rows that were new (its '
  'ledger.block_ranges) and the hash of the block before. Written by ledger.seal(). Append-only.';
comment on column ledger.blocks.sealed_through is
  'All rows that were committed by then are in this block or in an earlier one, but for orders '
  'that were open; null until that was so once.';
comment on column ledger.blocks.open_order_ids is
  'The orders within the block''s range of order ids that were still open: a later block has them. '
  'Ascending.';
comment on column ledger.blocks.ended_order_ids is
  'Orders that an earlier block left out as open, and that are in this one. Ascending.';
comment on column ledger.blocks.hash is
  'SHA-256 of the block and of its ranges: see ledger.hash_block.';
