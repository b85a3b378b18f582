create table trading.candles (
  market_id bigint not null,
  width_minutes int not null,
  start_at timestamptz not null,
  open_price trading.price not null,
  high_price trading.price not null,
  low_price trading.price not null,
  close_price trading.price not null,
  quantity bigint not null,
  trade_count bigint not null,
  primary key (market_id, width_minutes, start_at),
  constraint candles_are_a_minute_an_hour_or_a_day_wide check (width_minutes in (1, 60, 1440)),
  constraint candles_lie_between_low_and_high check (
    low_price <= least(open_price, close_price) and high_price >= greatest(open_price, close_price)
  )
) with (fillfactor = 80);

comment on table trading.candles is
  'YES prices of trades by minute, hour and day (UTC), made of trading.trades by jobs.make_candles '
  'so that a chart does not read them. Without a trade there is no candle.';
comment on column trading.candles.quantity is 'Shares traded.';
