create or replace function trading.has_terms(
  request trading.order_request,
  market_id bigint,
  side trading.side,
  order_type trading.order_type,
  price int,
  quantity int,
  budget_cents int,
  time_in_force trading.time_in_force,
  post_only boolean,
  expires_at timestamptz
)
returns boolean
language sql immutable parallel safe
return (request).market_id = market_id
  and (request).side = side
  and (request).order_type = order_type
  and (request).price = price
  and (request).time_in_force = time_in_force
  and (request).post_only = post_only
  and (request).budget_cents is not distinct from budget_cents
  and (request).expires_at is not distinct from expires_at
  and (budget_cents is not null or (request).quantity >= quantity);

comment on function trading.has_terms(
  trading.order_request, bigint, trading.side, trading.order_type, int, int, int,
  trading.time_in_force, boolean, timestamptz
) is
  'Whether a request asks for an order of these terms, which may have been made smaller since.';
