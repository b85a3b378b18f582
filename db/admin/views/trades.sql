-- The same as analytics.trades, in the schema that operators may read.
create or replace view admin.trades as
select
  x.trade_key,
  x.trade_id,
  x.market_key,
  x.market_id,
  x.match_type,
  x.yes_price_cents,
  x.quantity,
  x.taker_order_key,
  x.taker_order_id,
  x.taker_user_key,
  x.taker_user_id,
  x.taker_order_type,
  x.taker_side,
  x.maker_order_key,
  x.maker_order_id,
  x.maker_user_key,
  x.maker_user_id,
  x.maker_order_type,
  x.maker_side,
  x.fee_cents,
  x.fee_schedule_key,
  x.taker_realised_cents,
  x.maker_realised_cents,
  x.journal_key,
  x.created_at,
  x.voided_at
from analytics.trades as x;

comment on view admin.trades is 'Every match of two orders, in YES prices.';
comment on column admin.trades.trade_key is
  'Internal key, for joins; ascending in the order of the trades of a market.';
comment on column admin.trades.trade_id is 'Public id.';
comment on column admin.trades.market_key is 'The market: internal key, for joins.';
comment on column admin.trades.market_id is 'The market: public id.';
comment on column admin.trades.match_type is
  'mint: both bought, and new pairs of shares were made; transfer: shares went from one to the '
  'other; burn: both sold, and pairs of shares are gone.';
comment on column admin.trades.yes_price_cents is
  'YES price of a share; the NO price is 100 less it.';
comment on column admin.trades.quantity is 'Shares, or pairs of shares.';
comment on column admin.trades.taker_order_key is 'The taker''s order: internal key, for joins.';
comment on column admin.trades.taker_order_id is 'The taker''s order: public id.';
comment on column admin.trades.taker_user_key is 'The taker: internal key, for joins.';
comment on column admin.trades.taker_user_id is 'The taker: public id.';
comment on column admin.trades.taker_order_type is 'What the taker did: buy or sell.';
comment on column admin.trades.taker_side is
  'The shares that the taker bought or sold: yes or no.';
comment on column admin.trades.maker_order_key is 'The maker''s order: internal key, for joins.';
comment on column admin.trades.maker_order_id is 'The maker''s order: public id.';
comment on column admin.trades.maker_user_key is 'The maker: internal key, for joins.';
comment on column admin.trades.maker_user_id is 'The maker: public id.';
comment on column admin.trades.maker_order_type is 'What the maker did: buy or sell.';
comment on column admin.trades.maker_side is
  'The shares that the maker bought or sold: yes or no.';
comment on column admin.trades.fee_cents is
  'What this match added to the taker''s fee. Makers pay none.';
comment on column admin.trades.fee_schedule_key is 'The fee schedule that was in force.';
comment on column admin.trades.taker_realised_cents is
  'What the taker realised by selling: proceeds less fee, cost and buy fees of the shares; null '
  'for a buyer.';
comment on column admin.trades.maker_realised_cents is
  'What the maker realised by selling; null for a buyer.';
comment on column admin.trades.journal_key is 'The journal that moved the cash.';
comment on column admin.trades.created_at is 'When it happened.';
comment on column admin.trades.voided_at is
  'When it was undone, alone or with its market; null: it holds.';
