-- The planner settings keep every plan of the engine an index look-up, whatever the statistics of
-- a young database say, and spare it from planning the same statement again.
create or replace function api.place_orders(market_id uuid, requests jsonb)
returns setof api.outcome
language sql volatile security definer
set search_path = ''
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = on
as $$
  select * from trading.place_orders(place_orders.market_id, place_orders.requests)
$$;

comment on function api.place_orders(uuid, jsonb) is
  'Places orders in one market, in one transaction: one row for each element of requests, in '
  'their order. An element is {userId, side, price, quantity, budgetCents, orderType, '
  'timeInForce, idempotencyKey, expiresAt, postOnly}. Each stands alone: its refusal is its row. '
  'May fail as a whole with 40001, 40P01 or 55P03, and is then to be called again.';
