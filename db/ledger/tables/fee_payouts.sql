create table ledger.fee_payouts (
  journal_id bigint primary key references ledger.posted_journals (id),
  reference text not null,
  amount_cents bigint not null,
  constraint fee_payouts_happen_once unique (reference),
  constraint fee_payouts_reference_is_not_blank
    check (not core.is_blank(reference) and length(reference) <= 200),
  constraint fee_payouts_are_above_zero check (amount_cents > 0)
);

create trigger fee_payouts_are_append_only
  before update or delete or truncate on ledger.fee_payouts
  for each statement execute function ledger.refuse_change();

comment on table ledger.fee_payouts is
  'Fees that the exchange took out, by the operator''s reference: the same one twice is one '
  'payout. Which markets'' fees they were is in the lines of the journal.';
