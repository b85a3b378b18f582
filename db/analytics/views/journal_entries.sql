-- Made of the tables and not of the views ledger.entries, journals and accounts: so no trade is
-- joined with itself. Each line of a trade is a branch with joins of its own, so a query by user,
-- market, journal or trade goes by an index in every branch. The ids of accounts are those of
-- ledger.user_account_id and so on, which analysts may not call.
create or replace view analytics.journal_entries as
select
  p.journal_id as journal_key,
  j.kind::text as kind,
  j.market_id as market_key,
  m.public_id as market_id,
  p.account_id as account_key,
  case p.account_id % 4
    when 0 then 'user_cash'
    when 1 then 'market_escrow'
    when 2 then 'fee_revenue'
    else case p.account_id when 3 then 'outside_world' else 'event_escrow' end
  end as account_kind,
  u.id as user_key,
  u.public_id as user_id,
  p.amount_cents,
  p.balance_before_cents,
  p.balance_after_cents,
  p.account_version,
  j.created_at,
  null::uuid as trade_id
from ledger.posted_entries as p
left join ledger.posted_journals as j on j.id = p.journal_id
left join catalog.markets as m on m.id = j.market_id
-- Twice, for an index in either direction.
left join identity.users as u on u.id = p.account_id / 4 and p.account_id = u.id * 4
union all
select
  t.id, 'trade', t.market_id, m.public_id,
  t.taker_user_id * 4, 'user_cash', t.taker_user_id, u.public_id,
  t.taker_cents, t.taker_balance_cents - t.taker_cents, t.taker_balance_cents, t.taker_version,
  t.created_at, t.public_id
from trading.trades as t
left join catalog.markets as m on m.id = t.market_id
left join identity.users as u on u.id = t.taker_user_id
where t.taker_cents <> 0
union all
select
  t.id, 'trade', t.market_id, m.public_id,
  t.maker_user_id * 4, 'user_cash', t.maker_user_id, u.public_id,
  t.maker_cents, t.maker_balance_cents - t.maker_cents, t.maker_balance_cents, t.maker_version,
  t.created_at, t.public_id
from trading.trades as t
left join catalog.markets as m on m.id = t.market_id
left join identity.users as u on u.id = t.maker_user_id
where t.maker_cents <> 0
union all
select
  t.id, 'trade', t.market_id, m.public_id,
  t.market_id * 4 + 1, 'market_escrow', null, null,
  e.amount_cents, t.escrow_balance_cents - e.amount_cents, t.escrow_balance_cents,
  t.escrow_version, t.created_at, t.public_id
from trading.trades as t
cross join lateral (
  values (-(t.taker_cents + t.maker_cents + t.fee_cents::bigint))
) as e (amount_cents)
left join catalog.markets as m on m.id = t.market_id
where e.amount_cents <> 0
union all
select
  t.id, 'trade', t.market_id, m.public_id,
  t.market_id * 4 + 2, 'fee_revenue', null, null,
  t.fee_cents::bigint, t.revenue_balance_cents - t.fee_cents::bigint, t.revenue_balance_cents,
  t.revenue_version, t.created_at, t.public_id
from trading.trades as t
left join catalog.markets as m on m.id = t.market_id
where t.fee_cents <> 0;

comment on view analytics.journal_entries is
  'The ledger: every line of every journal. The lines of a journal sum to zero.';
comment on column analytics.journal_entries.journal_key is 'The journal: internal key, for joins.';
comment on column analytics.journal_entries.kind is
  'deposit, withdrawal, bonus, adjustment, reversal, fee_payout, trade, split, merge, convert, '
  'redeem, settlement, correction or void.';
comment on column analytics.journal_entries.market_key is
  'The market: internal key, for joins; null for deposits, withdrawals, bonuses, adjustments, '
  'reversals, fee payouts, converts and redeems.';
comment on column analytics.journal_entries.market_id is 'The market: public id.';
comment on column analytics.journal_entries.account_key is 'The account: internal key.';
comment on column analytics.journal_entries.account_kind is
  'outside_world, user_cash, market_escrow, fee_revenue or event_escrow.';
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
comment on column analytics.journal_entries.trade_id is
  'The trade that moved the cash: public id; null for other journals.';
