create or replace function trading.market_change_object(market_id uuid, version bigint)
returns text
language sql stable parallel safe
return format('{"marketId":"%s","version":%s}', market_id, version);

comment on function trading.market_change_object(uuid, bigint) is
  'A changed market as the payload of market_changed has it, as JSON text. See '
  'trading.order_object.';
