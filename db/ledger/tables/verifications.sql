create table ledger.verifications (
  id bigint generated always as identity primary key,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  broken_count core.amount not null,
  first_rows jsonb not null,
  verified_block bigint,
  constraint verifications_end_after_they_began check (finished_at >= started_at),
  constraint verifications_show_what_is_broken check (
    jsonb_typeof(first_rows) = 'array'
    and (broken_count = 0) = (first_rows = jsonb_build_array())
  )
);

create trigger verifications_are_append_only
  before update or delete or truncate on ledger.verifications
  for each statement execute function ledger.refuse_change();

comment on table ledger.verifications is
  'What each scheduled run of ledger.verify() found. Append-only. A run that did not get to its '
  'end leaves no row, so watch the age of the last one.';
comment on column ledger.verifications.broken_count is
  'Rows that ledger.verify() returned; 0 on a sound database.';
comment on column ledger.verifications.first_rows is
  'The first 20 of them: an array of {name, object, expected, found}.';
comment on column ledger.verifications.verified_block is
  'The last block of history that the run recomputed, or an earlier run; null: there was none.';
