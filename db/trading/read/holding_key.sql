create or replace function trading.holding_key(market int, trader int)
returns bigint
language sql immutable parallel safe
return market * 1000000::bigint + trader;

comment on function trading.holding_key(int, int) is
  'The key in trading.holdings_read of the places of a market and a trader.';
