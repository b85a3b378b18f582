create or replace function trading.market_lock(market_id bigint)
returns bigint
language sql immutable parallel safe
return (29037::bigint << 44) | market_id;

comment on function trading.market_lock(bigint) is
  'The number of the advisory lock of a market. Null is that of no market.';
