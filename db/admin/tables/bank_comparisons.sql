create table admin.bank_comparisons (
  day date primary key,
  at timestamptz not null,
  bank_entries int not null,
  differences jsonb not null
);

comment on table admin.bank_comparisons is
  'The last comparison of each UTC day with the entries of the bank: what admin.close_day takes '
  'over.';
comment on column admin.bank_comparisons.differences is
  'As admin.reconcile returned them: an array of objects.';
