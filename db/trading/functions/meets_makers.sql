create or replace function trading.meets_makers(
  request trading.order_request, context trading.market_context
)
returns boolean
language sql immutable parallel safe
return (context).live_delay_ms is null
and (request).book_price + case (request).book_side
  when 'yes' then (context).best_no_price else (context).best_yes_price
end >= 100;

comment on function trading.meets_makers(trading.order_request, trading.market_context) is
  'Whether the price of a request reaches the best price of the other side of its book.';
