create or replace view admin.reconciliations as
select
  c.day,
  c.at as compared_at,
  c.bank_entries,
  jsonb_array_length(c.differences) as difference_count,
  c.differences
from admin.bank_comparisons as c;

comment on view admin.reconciliations is
  'The last comparison of each day (UTC) with the entries of the bank, by admin.reconcile.';
comment on column admin.reconciliations.day is 'The day.';
comment on column admin.reconciliations.compared_at is 'When it was compared.';
comment on column admin.reconciliations.bank_entries is
  'How many entries of the bank were compared.';
comment on column admin.reconciliations.difference_count is
  'How many references have different amounts.';
comment on column admin.reconciliations.differences is
  'Each of them: {reference, ours_cents, bank_cents, difference_cents}.';
