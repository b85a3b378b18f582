-- With the reasons, which analysts do not see.
create or replace view admin.voids as
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
  v.created_at,
  v.reason
from trading.voids as v
left join catalog.markets as m on m.id = v.market_id
left join trading.trades as t on t.id = v.trade_id;

comment on view admin.voids is 'What operators undid: single trades, and markets as a whole.';
comment on column admin.voids.void_key is 'Internal key, ascending in time.';
comment on column admin.voids.market_key is 'The market: internal key, for joins.';
comment on column admin.voids.market_id is 'The market: public id.';
comment on column admin.voids.trade_key is
  'The trade: internal key, for joins; null if it is the whole market.';
comment on column admin.voids.trade_id is 'The trade: public id.';
comment on column admin.voids.taker_realised_cents is
  'Of a trade: what undoing it realised for its taker; a seller''s result is taken back.';
comment on column admin.voids.maker_realised_cents is 'Likewise for its maker.';
comment on column admin.voids.fee_cents is 'Fees that were given back.';
comment on column admin.voids.outside_cents is
  'The part of them that the exchange had paid out before.';
comment on column admin.voids.journal_key is
  'The journal that moved the cash: internal key, for joins; null if none had to move.';
comment on column admin.voids.created_at is 'When it happened.';
comment on column admin.voids.reason is 'Why.';
