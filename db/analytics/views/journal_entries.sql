create view analytics.journal_entries as
select
  e.journal_id as journal_key,
  j.kind::text as kind,
  j.market_id as market_key,
  m.public_id as market_id,
  e.account_id as account_key,
  a.kind::text as account_kind,
  a.user_id as user_key,
  u.public_id as user_id,
  e.amount_cents,
  e.balance_before_cents,
  e.balance_after_cents,
  e.account_version,
  j.created_at
from ledger.entries as e
left join ledger.journals as j on j.id = e.journal_id
left join catalog.markets as m on m.id = j.market_id
left join ledger.accounts as a on a.id = e.account_id
left join identity.users as u on u.id = a.user_id;

comment on view analytics.journal_entries is
  'The ledger: every line of every journal. The lines of a journal sum to zero.';
comment on column analytics.journal_entries.journal_key is 'The journal: internal key, for joins.';
comment on column analytics.journal_entries.kind is
  'deposit, withdrawal, trade, split, merge, settlement or correction.';
comment on column analytics.journal_entries.market_key is
  'The market: internal key, for joins; null for deposits and withdrawals.';
comment on column analytics.journal_entries.market_id is 'The market: public id.';
comment on column analytics.journal_entries.account_key is 'The account: internal key.';
comment on column analytics.journal_entries.account_kind is
  'outside_world, user_cash, market_escrow or fee_revenue.';
comment on column analytics.journal_entries.user_key is
  'Whose account it is: internal key, for joins; null unless user_cash.';
comment on column analytics.journal_entries.user_id is 'Whose account it is: public id.';
comment on column analytics.journal_entries.amount_cents is
  'What came to the account; negative for what went.';
comment on column analytics.journal_entries.balance_before_cents is
  'The account''s balance before the line.';
comment on column analytics.journal_entries.balance_after_cents is
  'The account''s balance after it.';
comment on column analytics.journal_entries.account_version is
  'The line''s number among those of the account.';
comment on column analytics.journal_entries.created_at is 'When it happened.';
