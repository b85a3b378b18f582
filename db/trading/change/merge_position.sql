create or replace function trading.merge_position(user_id bigint, market_id bigint, quantity int)
returns core.result
language plpgsql
as $$
declare
  v_proceeds_cents constant bigint := 50 * merge_position.quantity::bigint;
  v_problem constant text := trading.set_quantity_problem(merge_position.quantity);
  v_at constant timestamptz := core.now();
  v_markets trading.markets_read;
  v_traders trading.traders_read;
  v_held trading.holdings;
  v_is_resolved boolean;
  v_code text;
  v_yes_cost_out bigint;
  v_yes_fees_out bigint;
  v_no_cost_out bigint;
  v_no_fees_out bigint;
begin
  v_markets := trading.read_markets(array[merge_position.market_id], v_at);
  select m.status = 'resolved' into v_is_resolved
  from catalog.markets as m
  where m.id = merge_position.market_id;
  perform trading.lock_traders(array[merge_position.user_id]);
  v_traders := trading.read_traders(array[merge_position.user_id], v_at);
  select h.* into v_held
  from trading.holdings as h
  where h.market_id = merge_position.market_id
    and h.user_id = merge_position.user_id;

  v_code := case
    when v_problem is not null then 'INVALID_REQUEST'
    when v_traders.user_ids is null then 'UNAUTHORIZED'
    when merge_position.market_id is null then 'MARKET_NOT_FOUND'
    when v_is_resolved then 'MARKET_NOT_OPEN'
    when coalesce(least(v_held.yes_quantity, v_held.no_quantity), 0) < merge_position.quantity
      then 'INSUFFICIENT_BALANCE'
  end;
  if v_code is not null then
    return (v_code, v_problem, false, null)::core.result;
  end if;

  v_yes_cost_out := core.half_up(
    v_held.yes_cost_cents * merge_position.quantity, v_held.yes_quantity
  );
  v_yes_fees_out := core.half_up(
    v_held.yes_fee_cents * merge_position.quantity, v_held.yes_quantity
  );
  v_no_cost_out := core.half_up(v_held.no_cost_cents * merge_position.quantity, v_held.no_quantity);
  v_no_fees_out := core.half_up(v_held.no_fee_cents * merge_position.quantity, v_held.no_quantity);
  update trading.holdings as h set
    yes_quantity = h.yes_quantity - merge_position.quantity,
    yes_cost_cents = h.yes_cost_cents - v_yes_cost_out,
    yes_fee_cents = h.yes_fee_cents - v_yes_fees_out,
    yes_realised_cents = h.yes_realised_cents
      + v_proceeds_cents - v_yes_cost_out - v_yes_fees_out,
    no_quantity = h.no_quantity - merge_position.quantity,
    no_cost_cents = h.no_cost_cents - v_no_cost_out,
    no_fee_cents = h.no_fee_cents - v_no_fees_out,
    no_realised_cents = h.no_realised_cents
      + v_proceeds_cents - v_no_cost_out - v_no_fees_out
  where h.market_id = merge_position.market_id
    and h.user_id = merge_position.user_id;

  return (
    null, null, false,
    trading.post_conversion(
      v_markets, v_traders, v_at, 'merge', merge_position.quantity,
      v_proceeds_cents - v_yes_cost_out - v_yes_fees_out,
      v_proceeds_cents - v_no_cost_out - v_no_fees_out
    )
  )::core.result;
end
$$;

comment on function trading.merge_position(bigint, bigint, int) is
  'Turns complete sets of a user into 100 cents each, 50 for either share: the body of POST '
  '/positions/merge, or a rejection. Only the resolution of the market prevents it: no pause, '
  'exclusion or limit does. The caller holds the lock of the market. Locks: the user.';
