-- A split is judged by the same functions as an order to buy, one that costs 100 cents a set.
create or replace function trading.split_position(
  user_public_id uuid, market_public_id uuid, quantity int
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cost_cents constant bigint := 100 * split_position.quantity::bigint;
  v_side_cost_cents constant bigint := 50 * split_position.quantity::bigint;
  v_request trading.order_request;
  v_context trading.market_context;
  v_traders trading.trader_arrays;
  v_limits trading.limit_arrays;
  v_at timestamptz;
  v_code text;
begin
  v_request.quantity := split_position.quantity;
  v_request.problem := trading.set_quantity_problem(split_position.quantity);
  select t.user_id into v_request.user_id
  from trading.traders as t
  where t.public_id = split_position.user_public_id;
  select m.id into v_request.market_id
  from catalog.markets as m
  where m.public_id = split_position.market_public_id;

  perform trading.lock_market(v_request.market_id); -- mutant: split_without_lock
  v_at := core.now();
  v_context := (trading.read_markets(array[v_request.market_id], v_at))[1];
  perform trading.lock_traders(array[v_request.user_id]);
  v_traders := trading.read_traders(array[v_request.user_id], v_at);

  v_code := trading.request_rejection(
    v_request, v_context, v_traders.user_ids is not null, v_traders.blocked_by[1]
  );
  if v_code is null then
    if v_traders.limited[1] then
      v_limits := trading.read_limits(v_traders.user_ids, v_traders.user_ids, v_at);
    end if;
    v_code := trading.funding_rejection(
      true, null, v_cost_cents, v_cost_cents, v_traders.balances_cents[1], null,
      v_limits.limits[1], v_limits.untraded[1], v_limits.open_cost_cents[1]
    );
  end if;
  if v_code is not null then
    return (v_code, v_request.problem, false, null)::api.result;
  end if;

  update trading.holdings as h set
    yes_public_id = coalesce(h.yes_public_id, core.uuid_v7()),
    yes_quantity = h.yes_quantity + v_request.quantity,
    yes_cost_cents = h.yes_cost_cents + v_side_cost_cents,
    no_public_id = coalesce(h.no_public_id, core.uuid_v7()),
    no_quantity = h.no_quantity + v_request.quantity,
    no_cost_cents = h.no_cost_cents + v_side_cost_cents -- mutant: split_costs_nothing
  where h.market_id = v_request.market_id
    and h.user_id = v_request.user_id;
  if not found then
    insert into trading.holdings (
      market_id, user_id,
      yes_public_id, yes_quantity, yes_cost_cents, no_public_id, no_quantity, no_cost_cents
    )
    values (
      v_request.market_id, v_request.user_id,
      core.uuid_v7(), v_request.quantity, v_side_cost_cents,
      core.uuid_v7(), v_request.quantity, v_side_cost_cents
    );
  end if;

  return (
    null, null, false,
    trading.post_conversion(v_context, v_traders, 'split', v_request.quantity, null, null)
  )::api.result;
end
$$;

comment on function trading.split_position(uuid, uuid, int) is
  'Makes complete sets for a user, 100 cents for one YES and one NO share that cost 50 each: the '
  'body of POST /positions/split, or a rejection. Locks: the market, then the user.';
