create or replace view admin.round_trips as
select
  x.trade_key,
  x.trade_id,
  b.public_id as trade_before_id,
  x.market_key,
  m.public_id as market_id,
  u.public_id as first_user_id,
  u.handle as first_handle,
  w.public_id as second_user_id,
  w.handle as second_handle,
  least(x.quantity, x.quantity_before) as quantity,
  x.price as yes_price_cents,
  x.price_before as yes_price_before_cents,
  -- Who takes YES at the lower price and gives it at the higher one gains.
  least(x.quantity, x.quantity_before) * (x.price - x.price_before)
    * case when x.first_takes_yes then -1 else 1 end as first_gain_cents,
  floor(extract(epoch from x.created_at - x.before_at))::bigint as seconds_between,
  x.created_at,
  x.voided_at
from (
  select
    t.*,
    lag(t.trade_key) over pair as key_before,
    lag(t.first_takes_yes) over pair as took_yes_before,
    lag(t.quantity) over pair as quantity_before,
    lag(t.price) over pair as price_before,
    lag(t.created_at) over pair as before_at
  from admin.recent_trades as t
  window pair as (
    partition by t.market_key, t.first_user_key, t.second_user_key order by t.trade_key
  )
) as x
join trading.trades as b on b.id = x.key_before
join catalog.markets as m on m.id = x.market_key
join identity.users as u on u.id = x.first_user_key
join identity.users as w on w.id = x.second_user_key
where x.took_yes_before <> x.first_takes_yes
  and x.created_at <= x.before_at + interval '1 hour';

comment on view admin.round_trips is
  'Trades of the last 7 days that turn the trade before of the same two users in the same market '
  'within an hour: one sold to the other and bought back, or the reverse.';
comment on column admin.round_trips.trade_key is 'The later trade: internal key, for joins.';
comment on column admin.round_trips.trade_id is 'The later trade: public id.';
comment on column admin.round_trips.trade_before_id is 'The trade that it turns: public id.';
comment on column admin.round_trips.market_key is 'The market: internal key, for joins.';
comment on column admin.round_trips.market_id is 'The market: public id.';
comment on column admin.round_trips.first_user_id is 'The one with the lower key: public id.';
comment on column admin.round_trips.first_handle is 'Its handle.';
comment on column admin.round_trips.second_user_id is 'The other one: public id.';
comment on column admin.round_trips.second_handle is 'Its handle.';
comment on column admin.round_trips.quantity is 'Shares that went there and back.';
comment on column admin.round_trips.yes_price_cents is 'The price of YES in the later trade.';
comment on column admin.round_trips.yes_price_before_cents is
  'The price of YES in the trade before.';
comment on column admin.round_trips.first_gain_cents is
  'What the first one gained by these shares, without fees; below zero: the second one gained.';
comment on column admin.round_trips.seconds_between is 'Seconds between both.';
comment on column admin.round_trips.created_at is 'When the later trade happened.';
comment on column admin.round_trips.voided_at is
  'When it was undone, alone or with its market; null: it holds.';
