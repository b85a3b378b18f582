-- Two tables without joins or conditions: so PostgreSQL merges them by their keys, and the last
-- journals are read from the ends of two indexes.
create or replace view admin.journals as
select
  j.id as journal_key,
  j.kind::text as kind,
  j.market_id as market_key,
  j.created_at
from ledger.posted_journals as j
union all
select
  t.id,
  'trade',
  t.market_id,
  t.created_at
from trading.trades as t;

comment on view admin.journals is
  'The journals of the ledger, whose lines are admin.journal_entries: each has two or more.';
comment on column admin.journals.journal_key is
  'Internal key, for joins; ascending, but for calls at the same moment, in time.';
comment on column admin.journals.kind is
  'deposit, withdrawal, bonus, adjustment, reversal, fee_payout, trade, split, merge, convert, '
  'redeem, settlement, correction or void.';
comment on column admin.journals.market_key is
  'The market: internal key, for joins; null for deposits, withdrawals, bonuses, adjustments, '
  'reversals, fee payouts, converts and redeems.';
comment on column admin.journals.created_at is 'When it happened.';
