create table ledger.cash_movements (
  journal_id bigint primary key references ledger.posted_journals (id),
  user_id bigint not null references trading.traders (user_id),
  kind ledger.journal_kind not null,
  reference text not null,
  amount_cents bigint not null,
  reason text,
  constraint cash_movements_are_external
    check (kind in ('deposit', 'withdrawal', 'bonus', 'adjustment', 'reversal')),
  constraint cash_movements_happen_once unique (user_id, kind, reference),
  constraint cash_movements_reference_is_not_blank
    check (not core.is_blank(reference) and length(reference) <= 200),
  constraint cash_movements_are_above_zero_but_for_adjustments
    check (amount_cents > 0 or kind = 'adjustment' and amount_cents < 0),
  constraint cash_movements_have_a_reason_if_they_adjust_or_reverse
    check ((kind in ('adjustment', 'reversal')) = (reason is not null))
);

create index cash_movements_of_a_reference on ledger.cash_movements (reference);

create trigger cash_movements_are_append_only
  before update or delete or truncate on ledger.cash_movements
  for each statement execute function ledger.refuse_change();

comment on table ledger.cash_movements is
  'Cash of users that came in or went out: deposits, withdrawals, bonuses, adjustments and '
  'reversals of deposits, by the operator''s reference: the same one twice is one movement.';
comment on column ledger.cash_movements.reference is
  'The operator''s reference; of a bonus its name, play money for what a new account got; of a '
  'reversal that of the deposit.';
comment on column ledger.cash_movements.amount_cents is
  'Above zero, also for withdrawals and reversals; an adjustment may be below zero.';
comment on column ledger.cash_movements.reason is
  'Why a balance was adjusted or a deposit reversed; else null.';
