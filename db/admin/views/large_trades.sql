create or replace view admin.large_trades as
select
  x.trade_key,
  x.trade_id,
  x.market_key,
  m.public_id as market_id,
  u.public_id as taker_user_id,
  u.handle as taker_handle,
  w.public_id as maker_user_id,
  w.handle as maker_handle,
  x.price as yes_price_cents,
  x.quantity,
  x.day_trade_count,
  x.day_quantity::bigint as day_quantity,
  floor(100 * x.quantity / x.day_quantity)::bigint as day_percent,
  x.created_at,
  x.voided_at
from (
  select
    t.*,
    count(*) over market_day as day_trade_count,
    sum(t.quantity) over market_day as day_quantity
  from admin.recent_trades as t
  window market_day as (partition by t.market_key, (t.created_at at time zone 'UTC')::date)
) as x
join catalog.markets as m on m.id = x.market_key
join identity.users as u on u.id = x.taker_user_key
join identity.users as w on w.id = x.maker_user_key
where x.day_trade_count >= 5
  and 4 * x.quantity >= x.day_quantity;

comment on view admin.large_trades is
  'Trades of the last 7 days with a quarter or more of the shares that their market traded on that '
  'day (UTC), of days with at least 5 trades.';
comment on column admin.large_trades.trade_key is 'Internal key, for joins.';
comment on column admin.large_trades.trade_id is 'Public id.';
comment on column admin.large_trades.market_key is 'The market: internal key, for joins.';
comment on column admin.large_trades.market_id is 'The market: public id.';
comment on column admin.large_trades.taker_user_id is 'The taker: public id.';
comment on column admin.large_trades.taker_handle is 'The taker''s handle.';
comment on column admin.large_trades.maker_user_id is 'The maker: public id.';
comment on column admin.large_trades.maker_handle is 'The maker''s handle.';
comment on column admin.large_trades.yes_price_cents is 'The price of YES.';
comment on column admin.large_trades.quantity is 'Shares, or pairs of shares.';
comment on column admin.large_trades.day_trade_count is 'Trades of the market on that day.';
comment on column admin.large_trades.day_quantity is 'Shares of these.';
comment on column admin.large_trades.day_percent is 'How much of them this trade has, in percent.';
comment on column admin.large_trades.created_at is 'When it happened.';
comment on column admin.large_trades.voided_at is
  'When it was undone, alone or with its market; null: it holds.';
