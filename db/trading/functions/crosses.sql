create or replace function trading.crosses(
  request trading.order_request, context trading.market_context
)
returns boolean
language sql immutable parallel safe
return 100 - (request).book_price <= case (request).book_side
  when 'yes' then (context).best_no
  else (context).best_yes
end;

comment on function trading.crosses(trading.order_request, trading.market_context) is
  'Whether a request would meet the best order of the other side.';
