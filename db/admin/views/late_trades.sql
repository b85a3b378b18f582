create or replace view admin.late_trades as
select
  t.trade_key,
  t.trade_id,
  t.market_key,
  m.public_id as market_id,
  u.public_id as taker_user_id,
  u.handle as taker_handle,
  w.public_id as maker_user_id,
  w.handle as maker_handle,
  t.taker_side as taker_favours,
  m.resolved_outcome::text as resolved_outcome,
  t.price as yes_price_cents,
  t.quantity,
  floor(extract(epoch from e.ended_at - t.created_at))::bigint as seconds_before,
  t.created_at,
  t.voided_at
from admin.recent_trades as t
join catalog.markets as m on m.id = t.market_key
cross join lateral (select least(m.close_time, m.resolved_at)) as e (ended_at)
join identity.users as u on u.id = t.taker_user_key
join identity.users as w on w.id = t.maker_user_key
where e.ended_at <= analytics.now()
  and t.created_at between e.ended_at - interval '10 minutes' and e.ended_at;

comment on view admin.late_trades is
  'Trades of the last 7 days within the last 10 minutes of their market: before its close time or '
  'its resolution, whichever came first.';
comment on column admin.late_trades.trade_key is 'Internal key, for joins.';
comment on column admin.late_trades.trade_id is 'Public id.';
comment on column admin.late_trades.market_key is 'The market: internal key, for joins.';
comment on column admin.late_trades.market_id is 'The market: public id.';
comment on column admin.late_trades.taker_user_id is 'The taker: public id.';
comment on column admin.late_trades.taker_handle is 'The taker''s handle.';
comment on column admin.late_trades.maker_user_id is 'The maker: public id.';
comment on column admin.late_trades.maker_handle is 'The maker''s handle.';
comment on column admin.late_trades.taker_favours is
  'yes: the taker bought YES or sold NO; no: the reverse.';
comment on column admin.late_trades.resolved_outcome is 'The outcome; null: not resolved yet.';
comment on column admin.late_trades.yes_price_cents is 'The price of YES.';
comment on column admin.late_trades.quantity is 'Shares, or pairs of shares.';
comment on column admin.late_trades.seconds_before is 'Seconds before the end.';
comment on column admin.late_trades.created_at is 'When it happened.';
comment on column admin.late_trades.voided_at is
  'When it was undone, alone or with its market; null: it holds.';
