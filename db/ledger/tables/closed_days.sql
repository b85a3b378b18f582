create table ledger.closed_days (
  id bigint generated always as identity primary key,
  day date not null,
  closed_at timestamptz not null,
  bank_entries int not null,
  differences jsonb not null,
  reason text,
  constraint closed_days_are_closed_once unique (day),
  constraint closed_days_with_differences_have_a_reason
    check (differences = '[]' or reason is not null),
  constraint closed_days_reason_is_not_blank
    check (not core.is_blank(reason) and length(reason) <= 1000)
);

create trigger closed_days_are_append_only
  before update or delete or truncate on ledger.closed_days
  for each statement execute function ledger.refuse_change();

comment on table ledger.closed_days is
  'The UTC days whose books operators have closed, one after the other, each compared with the '
  'entries of the bank. Append-only.';
comment on column ledger.closed_days.bank_entries is
  'How many entries of the bank the day was compared with.';
comment on column ledger.closed_days.differences is
  'The references of which the bank and the ledger have different amounts, as admin.reconcile '
  'gives them.';
comment on column ledger.closed_days.reason is
  'Why the day was closed as it is; null only without differences.';
