create or replace view admin.recent_trades as
select
  t.id as trade_key,
  t.public_id as trade_id,
  t.market_id as market_key,
  t.taker_user_id as taker_user_key,
  t.maker_user_id as maker_user_key,
  t.taker_side::text as taker_side,
  least(t.taker_user_id, t.maker_user_id) as first_user_key,
  greatest(t.taker_user_id, t.maker_user_id) as second_user_key,
  (t.taker_user_id < t.maker_user_id) = (t.taker_side = 'yes') as first_takes_yes,
  t.quantity::bigint as quantity,
  t.price::int as price,
  abs(t.taker_cents) as cents,
  t.created_at,
  coalesce(o.created_at, n.created_at) as voided_at
from trading.trades as t
left join trading.voids as o on o.trade_id = t.id
left join trading.voided_markets as n on n.market_id = t.market_id
-- The index is of ids, which begin with the time when they were made.
where t.public_id >= core.uuid_v7_at(analytics.now() - interval '192 hours')
  -- A subquery is run once, the function itself for each trade.
  and t.created_at >= (select analytics.now() - interval '168 hours');

comment on view admin.recent_trades is
  'The trades of the last 7 days, for surveillance: admin.trades has all, with more about each.';
comment on column admin.recent_trades.trade_key is 'Internal key, for joins.';
comment on column admin.recent_trades.trade_id is 'Public id.';
comment on column admin.recent_trades.market_key is 'The market: internal key, for joins.';
comment on column admin.recent_trades.taker_user_key is 'The taker: internal key, for joins.';
comment on column admin.recent_trades.maker_user_key is 'The maker: internal key, for joins.';
comment on column admin.recent_trades.taker_side is
  'yes: the taker bought YES or sold NO; no: the reverse.';
comment on column admin.recent_trades.first_user_key is 'The one of both with the lower key.';
comment on column admin.recent_trades.second_user_key is 'The other one.';
comment on column admin.recent_trades.first_takes_yes is
  'Whether the first one bought YES or sold NO.';
comment on column admin.recent_trades.quantity is 'Shares, or pairs of shares.';
comment on column admin.recent_trades.price is 'The price of YES.';
comment on column admin.recent_trades.cents is 'What the taker paid or got, the fee included.';
comment on column admin.recent_trades.created_at is 'When it happened.';
comment on column admin.recent_trades.voided_at is
  'When it was undone, alone or with its market; null: it holds.';
