-- Watches the book and the ledger of one market, as an analyst, every two seconds until Ctrl-C.
\set ON_ERROR_STOP on
\set QUIET on

with market as (
  select analytics.market_key(:'market') as market_key
),
last_trade as (
  select t.yes_price_cents, t.quantity, t.journal_key, t.market_key
  from analytics.trades as t
  where t.market_key = (select m.market_key from market as m)
  order by t.trade_key desc
  limit 1
)
select l.line, l.yes_price_cents, l.quantity, l.cents
from (
  select 1 as section, b.side as line, b.yes_price_cents, b.quantity, null::bigint as cents
  from analytics.book_depth as b
  where b.market_key = (select m.market_key from market as m)
  union all
  select 2, 'last trade', t.yes_price_cents, t.quantity, null
  from last_trade as t
  union all
  -- What the last trade moved. These lines add up to zero.
  select 3, coalesce(u.handle, e.account_kind), null, null, e.amount_cents
  from analytics.journal_entries as e
  join last_trade as t using (journal_key)
  left join analytics.users as u using (user_key)
  where e.market_key = t.market_key
  union all
  -- The escrow holds 100 cents for each pair of a YES and a NO share.
  select 4, 'escrow', null, o.pair_count, o.escrow_cents
  from analytics.open_interest as o
  where o.market_key = (select m.market_key from market as m)
) as l
order by l.section, l.yes_price_cents desc, l.cents
\watch 2
