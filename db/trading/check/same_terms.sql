create or replace function trading.same_terms(
  requests trading.requests,
  place int,
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
return (requests).market_ids[(requests).market_place[place]] = market_id
  and (requests).side[place] = side
  and (requests).order_type[place] = order_type
  and (requests).price[place] = price
  and (requests).time_in_force[place] = time_in_force
  and (requests).post_only[place] = post_only
  and (requests).budget_cents[place] is not distinct from budget_cents
  and (requests).expires_at[place] is not distinct from expires_at
  and (budget_cents is not null or (requests).quantity[place] >= quantity);

comment on function trading.same_terms(
  trading.requests, int, bigint, trading.side, trading.order_type, int, int, int,
  trading.time_in_force, boolean, timestamptz
) is
  'Whether a request asks for an order of these terms, which may have been made smaller since.';
