-- A split is judged by the same functions as an order to buy, one that costs 100 cents a set.
create or replace function trading.split_position(user_id bigint, market_id bigint, quantity int)
returns core.result
language plpgsql
as $$
declare
  v_cost_cents constant bigint := 100 * split_position.quantity::bigint;
  v_side_cost_cents constant bigint := 50 * split_position.quantity::bigint;
  v_problem constant text := trading.set_quantity_problem(split_position.quantity);
  v_at constant timestamptz := core.now();
  m trading.markets_read;
  v_traders trading.traders_read;
  v_limits trading.limits_read;
  v_code text;
begin
  m := trading.read_markets(array[split_position.market_id], v_at);
  perform trading.lock_traders(array[split_position.user_id]);
  v_traders := trading.read_traders(array[split_position.user_id], v_at);

  v_code := trading.request_rejection(
    v_problem, false, null, v_at, m.site_paused, v_traders.user_ids is not null,
    v_traders.blocked_by[1], split_position.market_id is not null, m.is_open[1]
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
    return (v_code, v_problem, false, null)::core.result;
  end if;

  update trading.holdings as h set
    yes_public_id = coalesce(h.yes_public_id, core.uuid_v7()),
    yes_quantity = h.yes_quantity + split_position.quantity,
    yes_cost_cents = h.yes_cost_cents + v_side_cost_cents,
    no_public_id = coalesce(h.no_public_id, core.uuid_v7()),
    no_quantity = h.no_quantity + split_position.quantity,
    no_cost_cents = h.no_cost_cents + v_side_cost_cents
  where h.market_id = split_position.market_id
    and h.user_id = split_position.user_id;
  if not found then
    insert into trading.holdings (
      market_id, user_id,
      yes_public_id, yes_quantity, yes_cost_cents, no_public_id, no_quantity, no_cost_cents
    )
    values (
      split_position.market_id, split_position.user_id,
      core.uuid_v7(), split_position.quantity, v_side_cost_cents,
      core.uuid_v7(), split_position.quantity, v_side_cost_cents
    );
  end if;

  return (
    null, null, false,
    trading.post_conversion(m, v_traders, v_at, 'split', split_position.quantity, null, null)
  )::core.result;
end
$$;

comment on function trading.split_position(bigint, bigint, int) is
  'Makes complete sets for a user, 100 cents for one YES and one NO share that cost 50 each: the '
  'body of POST /positions/split, or a rejection. The caller holds the lock of the market. '
  'Locks: the user.';
