-- Made of the tables and not of the views ledger.entries, journals and accounts: so no trade is
-- joined with itself, and a query by market or journal goes by an index. The ids of accounts are
-- those of ledger.user_account_id and so on, which analysts may not call.
create or replace view analytics.journal_entries as
select
  e.journal_key,
  e.kind,
  e.market_key,
  m.public_id as market_id,
  e.account_key,
  e.account_kind,
  e.user_key,
  u.public_id as user_id,
  e.amount_cents,
  e.balance_before_cents,
  e.balance_after_cents,
  e.account_version,
  e.created_at
from (
  select
    p.journal_id as journal_key,
    j.kind::text as kind,
    j.market_id as market_key,
    p.account_id as account_key,
    case p.account_id % 4
      when 0 then 'user_cash'
      when 1 then 'market_escrow'
      when 2 then 'fee_revenue'
      else 'outside_world'
    end as account_kind,
    r.user_id as user_key,
    p.amount_cents,
    p.balance_before_cents,
    p.balance_after_cents,
    p.account_version,
    j.created_at
  from ledger.posted_entries as p
  left join ledger.posted_journals as j on j.id = p.journal_id
  left join trading.traders as r
    on r.user_id = p.account_id / 4
    and r.user_id * 4 = p.account_id
  union all
  select
    t.id, 'trade', t.market_id, l.account_id, l.account_kind, l.user_id,
    l.amount_cents, l.balance_after_cents - l.amount_cents, l.balance_after_cents,
    l.account_version, t.created_at
  from trading.trades as t
  cross join lateral (
    values
      (
        t.taker_user_id * 4, 'user_cash', t.taker_user_id, t.taker_cents,
        t.taker_balance_cents, t.taker_version
      ),
      (
        t.maker_user_id * 4, 'user_cash', t.maker_user_id, t.maker_cents,
        t.maker_balance_cents, t.maker_version
      ),
      (
        t.market_id * 4 + 1, 'market_escrow', null::bigint,
        -(t.taker_cents + t.maker_cents + t.fee_cents::bigint),
        t.escrow_balance_cents, t.escrow_version
      ),
      (
        t.market_id * 4 + 2, 'fee_revenue', null::bigint, t.fee_cents::bigint,
        t.revenue_balance_cents, t.revenue_version
      )
  ) as l (account_id, account_kind, user_id, amount_cents, balance_after_cents, account_version)
  where l.amount_cents <> 0
) as e
left join catalog.markets as m on m.id = e.market_key
left join identity.users as u on u.id = e.user_key;

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
  'Cents added to the account; negative if they were taken from it.';
comment on column analytics.journal_entries.balance_before_cents is
  'The account''s balance before the line.';
comment on column analytics.journal_entries.balance_after_cents is
  'The account''s balance after it.';
comment on column analytics.journal_entries.account_version is
  'The line''s number among those of the account.';
comment on column analytics.journal_entries.created_at is 'When it happened.';
