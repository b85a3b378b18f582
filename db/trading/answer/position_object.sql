create or replace function trading.position_object(
  held trading.positions, market catalog.markets, last_trade_price int
)
returns json
language sql stable parallel safe
return json_build_object(
  'id', (held).public_id,
  'marketId', (market).public_id,
  'marketTitle', (market).title,
  'marketStatus', (market).status,
  'lastTradePrice', last_trade_price,
  'side', (held).side,
  'quantity', (held).quantity,
  'avgPrice', least(99, greatest(1, core.half_up((held).cost_cents, (held).quantity))),
  'realisedPnl', (held).realised_cents
);

comment on function trading.position_object(trading.positions, catalog.markets, int) is
  'A position that holds shares, as the portfolio and the answers about complete sets show it.';
