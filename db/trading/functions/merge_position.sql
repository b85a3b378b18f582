create or replace function trading.merge_position(
  user_public_id uuid, market_public_id uuid, quantity int
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_share_cents constant int := 50;
  v_request trading.order_request;
  v_context trading.market_context;
  v_traders trading.trader_arrays;
  v_market_id bigint;
  v_at timestamptz;
  v_is_resolved boolean;
  v_code text;
  v_position trading.positions;
  v_cost_out bigint;
  v_fees_out bigint;
  v_realised bigint[] := '{}';
begin
  v_request.quantity := merge_position.quantity;
  v_request.problem := trading.set_quantity_problem(merge_position.quantity);
  select u.id into v_request.user_id
  from identity.users as u
  where u.public_id = merge_position.user_public_id;
  select m.id into v_market_id
  from catalog.markets as m
  where m.public_id = merge_position.market_public_id;

  perform trading.lock_market(v_market_id);
  v_at := core.now();
  select c.* into v_context
  from trading.read_context(v_market_id, v_at) as c;
  select m.status = 'resolved' into v_is_resolved
  from catalog.markets as m
  where m.id = v_market_id;
  v_traders := trading.lock_traders(array[v_request], null, v_at);

  v_code := case
    when v_request.problem is not null then 'INVALID_REQUEST'
    when v_traders.user_ids is null then 'UNAUTHORIZED'
    when v_market_id is null then 'MARKET_NOT_FOUND'
    when v_is_resolved then 'MARKET_NOT_OPEN'
    when (
      select count(*)
      from trading.positions as p
      where p.market_id = v_market_id
        and p.user_id = v_request.user_id
        and p.quantity >= v_request.quantity
    ) < 2 then 'INSUFFICIENT_BALANCE'
  end;
  if v_code is not null then
    return (v_code, trading.rejection_message(v_code, v_request), false, null)::api.result;
  end if;

  for v_position in
    select p.*
    from trading.positions as p
    where p.market_id = v_market_id
      and p.user_id = v_request.user_id
    order by p.side
  loop
    v_cost_out := core.half_up(
      v_position.cost_cents * v_request.quantity, v_position.quantity
    );
    v_fees_out := core.half_up(v_position.fee_cents * v_request.quantity, v_position.quantity);
    v_realised := v_realised || c_share_cents * v_request.quantity - v_cost_out - v_fees_out;
    update trading.positions as p set
      quantity = p.quantity - v_request.quantity,
      cost_cents = p.cost_cents - v_cost_out,
      fee_cents = p.fee_cents - v_fees_out,
      realised_cents = p.realised_cents + v_realised[cardinality(v_realised)]
    where p.market_id = v_market_id
      and p.user_id = v_request.user_id
      and p.side = v_position.side;
  end loop;

  return (
    null, null, false,
    trading.post_conversion(
      v_context, v_traders, 'merge', v_request.quantity, v_realised[1], v_realised[2]
    )
  )::api.result;
end
$$;

comment on function trading.merge_position(uuid, uuid, int) is
  'Gives complete sets of a user back for 100 cents each, 50 for either share: the body of POST '
  '/positions/merge, or a refusal. Nothing but the resolution of the market is in its way: no '
  'pause, no exclusion, no limit. Locks: the market, then the user.';
