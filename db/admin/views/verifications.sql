create or replace view admin.verifications as
select
  v.id as verification_key,
  v.started_at,
  v.finished_at,
  v.broken_count::bigint as broken_count,
  v.first_rows
from ledger.verifications as v;

comment on view admin.verifications is
  'What each nightly run of ledger.verify() found. A run that did not get to its end leaves no '
  'row, so look at the time of the last one.';
comment on column admin.verifications.verification_key is
  'Internal key, ascending in the order of the runs.';
comment on column admin.verifications.started_at is 'When it began.';
comment on column admin.verifications.finished_at is 'When it ended.';
comment on column admin.verifications.broken_count is
  'Rows that ledger.verify() returned; 0 on a sound database.';
comment on column admin.verifications.first_rows is
  'The first 20 of them: an array of {name, object, expected, found}.';
