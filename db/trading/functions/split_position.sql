-- A split is judged as an order to buy that costs 100 cents a set: by the same functions.
create or replace function trading.split_position(
  user_public_id uuid, market_public_id uuid, quantity int
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cost_cents constant bigint := 100 * split_position.quantity::bigint;
  v_request trading.order_request;
  v_context trading.market_context;
  v_traders trading.trader_arrays;
  v_limits trading.limit_arrays;
  v_market_id bigint;
  v_at timestamptz;
  v_code text;
begin
  v_request.order_type := 'buy';
  v_request.quantity := split_position.quantity;
  v_request.problem := trading.set_quantity_problem(split_position.quantity);
  select u.id into v_request.user_id
  from identity.users as u
  where u.public_id = split_position.user_public_id;
  select m.id into v_market_id
  from catalog.markets as m
  where m.public_id = split_position.market_public_id;

  perform trading.lock_market(v_market_id);
  v_at := core.now();
  select c.* into v_context
  from trading.read_context(v_market_id, v_at) as c;
  v_traders := trading.lock_traders(array[v_request], null, v_at);

  v_code := trading.request_rejection(
    v_request, v_context, v_traders.user_ids is not null, v_traders.blocked_by[1]
  );
  if v_code is null then
    if v_traders.limited[1] then
      v_limits := trading.read_limits(v_traders.user_ids, v_traders.user_ids, v_at);
    end if;
    v_code := trading.funding_rejection(
      v_request, v_cost_cents, v_cost_cents, v_traders.balance_cents[1], null,
      v_limits.limits[1], v_limits.untraded[1], v_limits.open_cost_cents[1]
    );
  end if;
  if v_code is not null then
    return (v_code, trading.rejection_message(v_code, v_request), false, null)::api.result;
  end if;

  insert into trading.positions as p (market_id, user_id, side, quantity, cost_cents)
  select v_market_id, v_request.user_id, s.side, v_request.quantity, 50 * v_request.quantity
  from unnest(enum_range(null::trading.side)) as s (side)
  on conflict (market_id, user_id, side) do update set
    quantity = p.quantity + excluded.quantity,
    cost_cents = p.cost_cents + excluded.cost_cents;

  return (
    null, null, false,
    trading.post_conversion(v_context, v_traders, 'split', v_request.quantity, null, null)
  )::api.result;
end
$$;

comment on function trading.split_position(uuid, uuid, int) is
  'Makes complete sets for a user, 100 cents for one YES and one NO share that cost 50 each: the '
  'body of POST /positions/split, or a refusal. Locks: the market, then the user.';
