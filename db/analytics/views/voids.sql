create or replace view analytics.voids as
select
  v.id as void_key,
  v.market_id as market_key,
  m.public_id as market_id,
  v.trade_id as trade_key,
  t.public_id as trade_id,
  v.taker_realised_cents,
  v.maker_realised_cents,
  v.fee_cents::bigint as fee_cents,
  v.outside_cents::bigint as outside_cents,
  v.journal_id as journal_key,
  v.created_at
from trading.voids as v
left join catalog.markets as m on m.id = v.market_id
left join trading.trades as t on t.id = v.trade_id;

comment on view analytics.voids is 'What operators undid: single trades, and markets as a whole.';
comment on column analytics.voids.void_key is 'Internal key, ascending in time.';
comment on column analytics.voids.market_key is 'The market: internal key, for joins.';
comment on column analytics.voids.market_id is 'The market: public id.';
comment on column analytics.voids.trade_key is
  'The trade: internal key, for joins; null if it is the whole market.';
comment on column analytics.voids.trade_id is 'The trade: public id.';
comment on column analytics.voids.taker_realised_cents is
  'Of a trade: what undoing it realised for its taker; a seller''s result is taken back.';
comment on column analytics.voids.maker_realised_cents is 'Likewise for its maker.';
comment on column analytics.voids.fee_cents is 'Fees that were given back.';
comment on column analytics.voids.outside_cents is
  'The part of them that the exchange had paid out before.';
comment on column analytics.voids.journal_key is
  'The journal that moved the cash: internal key, for joins; null if none had to move.';
comment on column analytics.voids.created_at is 'When it happened.';
