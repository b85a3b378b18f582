-- The same as analytics.journal_entries, in the schema that operators may read.
create or replace view admin.journal_entries as
select
  x.journal_key,
  x.kind,
  x.market_key,
  x.market_id,
  x.account_key,
  x.account_kind,
  x.user_key,
  x.user_id,
  x.amount_cents,
  x.balance_before_cents,
  x.balance_after_cents,
  x.account_version,
  x.created_at,
  x.trade_id
from analytics.journal_entries as x;

comment on view admin.journal_entries is
  'The ledger: every line of every journal. The lines of a journal sum to zero.';
comment on column admin.journal_entries.journal_key is 'The journal: internal key, for joins.';
comment on column admin.journal_entries.kind is
  'deposit, withdrawal, bonus, adjustment, reversal, fee_payout, trade, split, merge, convert, '
  'redeem, settlement, correction or void.';
comment on column admin.journal_entries.market_key is
  'The market: internal key, for joins; null for deposits, withdrawals, bonuses, adjustments, '
  'reversals, fee payouts, converts and redeems.';
comment on column admin.journal_entries.market_id is 'The market: public id.';
comment on column admin.journal_entries.account_key is 'The account: internal key.';
comment on column admin.journal_entries.account_kind is
  'outside_world, user_cash, market_escrow, fee_revenue or event_escrow.';
comment on column admin.journal_entries.user_key is
  'Whose account it is: internal key, for joins; null unless user_cash.';
comment on column admin.journal_entries.user_id is 'Whose account it is: public id.';
comment on column admin.journal_entries.amount_cents is
  'Cents added to the account; negative if they were taken from it.';
comment on column admin.journal_entries.balance_before_cents is
  'The account''s balance before the line.';
comment on column admin.journal_entries.balance_after_cents is
  'The account''s balance after it.';
comment on column admin.journal_entries.account_version is
  'The line''s number among those of the account.';
comment on column admin.journal_entries.created_at is 'When it happened.';
comment on column admin.journal_entries.trade_id is
  'The trade that moved the cash: public id; null for other journals.';
