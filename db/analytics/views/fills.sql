-- The joins are those of analytics.trades.
create or replace view analytics.fills as
select
  f.trade_key,
  f.trade_id,
  f.role,
  f.order_key,
  coalesce(
    o.public_id,
    (
      select a.order_public_id
      from trading.active_orders as a
      where a.order_id = f.order_key
    )
  ) as order_id,
  f.market_id as market_key,
  m.public_id as market_id,
  f.user_id as user_key,
  u.public_id as user_id,
  f.counterparty_user_key,
  case
    when (f.book_side = 'yes') = (f.realised_cents is null) then 'yes'
    else 'no'
  end as side,
  case when f.realised_cents is null then 'buy' else 'sell' end as order_type,
  case
    when (f.book_side = 'yes') = (f.realised_cents is null) then f.yes_price
    else 100 - f.yes_price
  end as price_cents,
  f.quantity,
  f.quantity::bigint * case
    when (f.book_side = 'yes') = (f.realised_cents is null) then f.yes_price
    else 100 - f.yes_price
  end as amount_cents,
  f.fee_cents,
  f.realised_cents,
  f.created_at,
  coalesce(w.created_at, n.created_at) as voided_at
from (
  select
    t.id as trade_key, t.public_id as trade_id, t.market_id, 'taker' as role,
    t.taker_order_id as order_key, t.taker_user_id as user_id,
    t.maker_user_id as counterparty_user_key, t.taker_side as book_side,
    t.price::int as yes_price, t.quantity::int as quantity, t.fee_cents::bigint as fee_cents,
    t.taker_realised_cents as realised_cents, t.created_at
  from trading.trades as t
  union all
  select
    t.id, t.public_id, t.market_id, 'maker' as role, t.maker_order_id, t.maker_user_id,
    t.taker_user_id, case t.taker_side when 'yes' then 'no'::trading.side else 'yes' end,
    -- As bigint: a union of other types would be read as a whole, whatever is asked for.
    t.price::int, t.quantity::int, 0::bigint, t.maker_realised_cents, t.created_at
  from trading.trades as t
) as f
left join trading.ended_orders as o on o.id = f.order_key
left join catalog.markets as m on m.id = f.market_id
left join identity.users as u on u.id = f.user_id
left join trading.voids as w on w.trade_id = f.trade_key
left join trading.voided_markets as n on n.market_id = f.market_id;

comment on view analytics.fills is
  'Every trade twice: once for the order of its taker, once for that of its maker.';
comment on column analytics.fills.trade_key is 'The trade: internal key, for joins.';
comment on column analytics.fills.trade_id is 'The trade: public id.';
comment on column analytics.fills.role is 'taker or maker.';
comment on column analytics.fills.order_key is 'The order: internal key, for joins.';
comment on column analytics.fills.order_id is 'The order: public id.';
comment on column analytics.fills.market_key is 'The market: internal key, for joins.';
comment on column analytics.fills.market_id is 'The market: public id.';
comment on column analytics.fills.user_key is 'The order''s user: internal key, for joins.';
comment on column analytics.fills.user_id is 'The order''s user: public id.';
comment on column analytics.fills.counterparty_user_key is
  'The user of the other order: internal key, for joins.';
comment on column analytics.fills.side is 'The shares that the user bought or sold: yes or no.';
comment on column analytics.fills.order_type is 'buy or sell.';
comment on column analytics.fills.price_cents is 'Price of a share of the user''s side.';
comment on column analytics.fills.quantity is 'Shares.';
comment on column analytics.fills.amount_cents is
  'Quantity x price: paid by a buyer, received by a seller, before the fee.';
comment on column analytics.fills.fee_cents is 'What it added to the order''s fee; 0 for makers.';
comment on column analytics.fills.realised_cents is 'What selling realised; null for a buyer.';
comment on column analytics.fills.created_at is 'When it happened.';
comment on column analytics.fills.voided_at is
  'When the trade was undone, alone or with its market; null: it holds.';
