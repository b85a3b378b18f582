create or replace view admin.blocks as
select
  b.number as block,
  b.created_at,
  b.sealed_through,
  b.row_count::bigint as row_count,
  encode(b.previous_hash, 'hex') as previous_hash,
  encode(b.hash, 'hex') as hash
from ledger.blocks as b;

comment on view admin.blocks is
  'The blocks that seal the history, each with the hash of the block before.';
comment on column admin.blocks.block is 'Its number, from 1.';
comment on column admin.blocks.created_at is 'When it was made.';
comment on column admin.blocks.sealed_through is
  'All rows that were committed by then are in this block or in an earlier one, but for orders '
  'that were open; null until that was so once.';
comment on column admin.blocks.row_count is 'Rows of history in it.';
comment on column admin.blocks.previous_hash is
  'The hash of the block before, in hexadecimal digits.';
comment on column admin.blocks.hash is 'Its hash, in hexadecimal digits.';
