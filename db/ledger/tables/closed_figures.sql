create table ledger.closed_figures (
  closed_day_id bigint not null references ledger.closed_days (id),
  account_kind ledger.account_kind not null,
  item text not null,
  amount_cents bigint not null,
  primary key (closed_day_id, account_kind, item)
);

create trigger closed_figures_are_append_only
  before update or delete or truncate on ledger.closed_figures
  for each statement execute function ledger.refuse_change();

comment on table ledger.closed_figures is
  'The figures of closed days: of each kind of account the opening balance, what journals of each '
  'kind moved, and the closing balance. The amounts of an item sum to zero. Append-only.';
comment on column ledger.closed_figures.item is
  'opening, closing, or a kind of journals; a kind that moved nothing has no row.';
comment on column ledger.closed_figures.amount_cents is
  'The sum of the balances, or what they grew by; negative if they shrank.';
