create table ledger.block_ranges (
  table_name text not null,
  block_number bigint not null references ledger.blocks (number),
  after_id bigint,
  through_id bigint not null,
  row_count core.amount not null,
  hash bytea not null,
  primary key (table_name, block_number),
  constraint block_ranges_do_not_end_before_they_begin check (after_id <= through_id),
  constraint block_ranges_have_rows check (row_count > 0),
  constraint block_ranges_have_hashes_of_32_bytes check (length(hash) = 32)
);

create index block_ranges_of_a_block on ledger.block_ranges (block_number);

create trigger block_ranges_are_append_only
  before update or delete or truncate on ledger.block_ranges
  for each statement execute function ledger.refuse_change();

comment on table ledger.block_ranges is
  'Which rows of a table a block seals: those with ids above after_id up to through_id. Tables '
  'that share a sequence of ids have the same range; one without rows in it is left out. '
  'Append-only.';
comment on column ledger.block_ranges.table_name is 'Of ledger.sealed_tables.';
comment on column ledger.block_ranges.after_id is
  'Where the last range of the sequence ended; null: this is the first.';
comment on column ledger.block_ranges.hash is
  'SHA-256 of the hashes of its rows: see ledger.hash_ranges.';
