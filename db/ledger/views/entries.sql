create or replace view ledger.entries as
select
  e.journal_id, e.account_id, e.amount_cents, e.balance_before_cents, e.balance_after_cents,
  e.account_version
from ledger.posted_entries as e
union all
select
  t.id, l.account_id, l.amount_cents, l.balance_after_cents - l.amount_cents,
  l.balance_after_cents, l.account_version
from trading.trades as t
cross join lateral (
  values
    (
      ledger.user_account_id(t.taker_user_id), t.taker_cents,
      t.taker_balance_cents, t.taker_version
    ),
    (
      ledger.user_account_id(t.maker_user_id), t.maker_cents,
      t.maker_balance_cents, t.maker_version
    ),
    (
      ledger.escrow_account_id(t.market_id), -(t.taker_cents + t.maker_cents + t.fee_cents),
      t.escrow_balance_cents, t.escrow_version
    ),
    (
      ledger.revenue_account_id(t.market_id), t.fee_cents,
      t.revenue_balance_cents, t.revenue_version
    )
) as l (account_id, amount_cents, balance_after_cents, account_version)
where l.amount_cents <> 0;

comment on view ledger.entries is
  'The lines of the journals: signed cents on an account, with the balance before and after and '
  'the account''s version. The lines of a journal sum to zero, the versions of an account have no '
  'gap. A trade''s lines are columns of its row in trading.trades, the others are rows of '
  'ledger.posted_entries.';
comment on column ledger.entries.journal_id is 'ledger.journals.id.';
comment on column ledger.entries.account_id is 'ledger.accounts.id.';
comment on column ledger.entries.amount_cents is
  'EUR-cents added to the account; negative if they were taken from it. Never 0.';
comment on column ledger.entries.balance_before_cents is
  'The account''s balance before the line.';
comment on column ledger.entries.balance_after_cents is 'The account''s balance after it.';
comment on column ledger.entries.account_version is
  'The line''s number among those of the account, from 1.';
