create table trading.candle_progress (
  market_id bigint primary key references catalog.markets (id),
  last_trade_id bigint not null default 0,
  trade_count bigint not null default 0
);

comment on table trading.candle_progress is
  'Up to which trade the candles of a market are made, and of how many trades. The ids of a '
  'market''s trades rise with time.';
