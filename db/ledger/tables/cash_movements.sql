create table ledger.cash_movements (
  journal_id bigint primary key references ledger.posted_journals (id),
  user_id bigint not null references trading.traders (user_id),
  kind ledger.journal_kind not null,
  reference text not null,
  amount_cents bigint not null,
  constraint cash_movements_are_external check (kind in ('deposit', 'withdrawal')),
  constraint cash_movements_happen_once unique (user_id, kind, reference),
  constraint cash_movements_reference_is_not_blank
    check (reference ~ '\S' and length(reference) <= 200),
  constraint cash_movements_are_above_zero check (amount_cents > 0)
);

create trigger cash_movements_are_append_only
  before update or delete or truncate on ledger.cash_movements
  for each statement execute function ledger.refuse_change();

comment on table ledger.cash_movements is
  'Deposits and withdrawals by the operator''s reference: the same one twice is one movement.';
