create or replace function trading.match_request(
  request trading.order_request,
  context trading.market_context,
  slice trading.book_slice,
  trader int,
  holding int,
  blocked_by text
)
returns trading.match_request
language sql immutable parallel safe
return (
  trader,
  holding,
  2 * holding - ((request).side = 'yes')::int,
  (request).order_type = 'buy',
  (request).time_in_force <> 'gtc',
  (request).post_only,
  (request).price,
  (request).quantity,
  coalesce((request).quantity, 10000),
  (request).budget_cents,
  2 * (request).market - ((request).book_side = 'yes')::int,
  2 * (request).market - ((request).book_side = 'no')::int, -- mutant: book_of_another_market
  (request).book_price,
  100 - (request).book_price, -- mutant: touching_prices_miss
  case (request).book_side
    when 'yes' then (slice).no_floors[(request).market] else (slice).yes_floors[(request).market]
  end,
  case (request).order_type when 'buy' then -(request).price else (request).price end,
  case (request).order_type when 'buy' then 1 else -1 end,
  (context).taker_rate_bps,
  case when (context).live_delay_ms is not null then trading.scheduled_cost_cents(
    (request).order_type, (request).price, (request).quantity, (request).budget_cents,
    (context).taker_rate_bps
  ) end,
  coalesce(
    (request).budget_cents,
    case when (request).is_market then 0 else (request).quantity * (request).price end
  ),
  (request).relieved_cents,
  (request).problem is not null,
  trading.request_rejection(request, context, trader is not null, blocked_by),
  (request).time_in_force = 'fok',
  coalesce((request).cancels_own, false)
)::trading.match_request;

comment on function trading.match_request(
  trading.order_request, trading.market_context, trading.book_slice, int, int, text
) is
  'A request as matching reads it. trader and holding are the places of its user and of what the '
  'user has in its market, null without; blocked_by: see trading.request_blocked_by.';
