-- The planner drops a left join without a selected column only if it sees that the other side is
-- unique: so orders are joined by their two tables and not by trading.orders.
create or replace view analytics.trades as
select
  t.id as trade_key,
  t.public_id as trade_id,
  t.market_id as market_key,
  m.public_id as market_id,
  case
    when t.taker_realised_cents is null and t.maker_realised_cents is null then 'mint'
    when t.taker_realised_cents is not null and t.maker_realised_cents is not null then 'burn'
    else 'transfer'
  end as match_type,
  t.price::int as yes_price_cents,
  t.quantity::int as quantity,
  t.taker_order_id as taker_order_key,
  coalesce(
    x.public_id,
    (
      select a.order_public_id
      from trading.active_orders as a
      where a.order_id = t.taker_order_id
    )
  ) as taker_order_id,
  t.taker_user_id as taker_user_key,
  v.public_id as taker_user_id,
  case when t.taker_realised_cents is null then 'buy' else 'sell' end as taker_order_type,
  case
    when t.taker_realised_cents is null then t.taker_side::text
    when t.taker_side = 'yes' then 'no'
    else 'yes'
  end as taker_side,
  t.maker_order_id as maker_order_key,
  coalesce(
    y.public_id,
    (
      select a.order_public_id
      from trading.active_orders as a
      where a.order_id = t.maker_order_id
    )
  ) as maker_order_id,
  t.maker_user_id as maker_user_key,
  w.public_id as maker_user_id,
  case when t.maker_realised_cents is null then 'buy' else 'sell' end as maker_order_type,
  case
    when t.maker_realised_cents is not null then t.taker_side::text
    when t.taker_side = 'yes' then 'no'
    else 'yes'
  end as maker_side,
  t.fee_cents::bigint as fee_cents,
  t.fee_schedule_id as fee_schedule_key,
  t.taker_realised_cents,
  t.maker_realised_cents,
  t.id as journal_key,
  t.created_at,
  coalesce(o.created_at, n.created_at) as voided_at
from trading.trades as t
left join catalog.markets as m on m.id = t.market_id
left join trading.ended_orders as x on x.id = t.taker_order_id
left join trading.ended_orders as y on y.id = t.maker_order_id
left join identity.users as v on v.id = t.taker_user_id
left join identity.users as w on w.id = t.maker_user_id
left join trading.voids as o on o.trade_id = t.id
left join trading.voided_markets as n on n.market_id = t.market_id;

comment on view analytics.trades is
  'Every match of two orders, in YES prices. analytics.fills has the same by order.';
comment on column analytics.trades.trade_key is
  'Internal key, for joins; ascending in the order of the trades of a market.';
comment on column analytics.trades.trade_id is 'Public id.';
comment on column analytics.trades.market_key is 'The market: internal key, for joins.';
comment on column analytics.trades.market_id is 'The market: public id.';
comment on column analytics.trades.match_type is
  'mint: both bought, and new pairs of shares were made; transfer: shares went from one to the '
  'other; burn: both sold, and pairs of shares are gone.';
comment on column analytics.trades.yes_price_cents is
  'YES price of a share; the NO price is 100 less it.';
comment on column analytics.trades.quantity is 'Shares, or pairs of shares.';
comment on column analytics.trades.taker_order_key is
  'The taker''s order: internal key, for joins.';
comment on column analytics.trades.taker_order_id is 'The taker''s order: public id.';
comment on column analytics.trades.taker_user_key is 'The taker: internal key, for joins.';
comment on column analytics.trades.taker_user_id is 'The taker: public id.';
comment on column analytics.trades.taker_order_type is 'What the taker did: buy or sell.';
comment on column analytics.trades.taker_side is
  'The shares that the taker bought or sold: yes or no.';
comment on column analytics.trades.maker_order_key is
  'The maker''s order: internal key, for joins.';
comment on column analytics.trades.maker_order_id is 'The maker''s order: public id.';
comment on column analytics.trades.maker_user_key is 'The maker: internal key, for joins.';
comment on column analytics.trades.maker_user_id is 'The maker: public id.';
comment on column analytics.trades.maker_order_type is 'What the maker did: buy or sell.';
comment on column analytics.trades.maker_side is
  'The shares that the maker bought or sold: yes or no.';
comment on column analytics.trades.fee_cents is
  'What this match added to the taker''s fee. Makers pay none.';
comment on column analytics.trades.fee_schedule_key is 'The fee schedule that was in force.';
comment on column analytics.trades.taker_realised_cents is
  'What the taker realised by selling: proceeds less fee, cost and buy fees of the shares; null '
  'for a buyer.';
comment on column analytics.trades.maker_realised_cents is
  'What the maker realised by selling; null for a buyer.';
comment on column analytics.trades.journal_key is 'The journal that moved the cash.';
comment on column analytics.trades.created_at is 'When it happened.';
comment on column analytics.trades.voided_at is
  'When it was undone, alone or with its market; null: it holds.';
