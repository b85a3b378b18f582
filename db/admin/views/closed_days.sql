create or replace view admin.closed_days as
select
  d.day,
  d.closed_at,
  d.bank_entries,
  jsonb_array_length(d.differences) as difference_count,
  d.differences,
  d.reason
from ledger.closed_days as d;

comment on view admin.closed_days is
  'The days (UTC) whose books are closed, by admin.close_day.';
comment on column admin.closed_days.day is 'The day.';
comment on column admin.closed_days.closed_at is 'When it was closed.';
comment on column admin.closed_days.bank_entries is
  'How many entries of the bank it was compared with.';
comment on column admin.closed_days.difference_count is
  'How many references had different amounts.';
comment on column admin.closed_days.differences is
  'Each of them: {reference, ours_cents, bank_cents, difference_cents}.';
comment on column admin.closed_days.reason is
  'Why it was closed as it is; null only without differences.';
