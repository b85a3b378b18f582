create or replace function trading.amend_order(
  user_id bigint,
  user_public_id uuid,
  order_public_id uuid,
  price int,
  quantity int,
  most_makers int
)
returns core.result
language plpgsql
as $$
declare
  v_problem constant text := case
    when amend_order.price is null and amend_order.quantity is null
      then 'price: required without quantity'
    else trading.terms_problem(amend_order.price, amend_order.quantity)
  end;
  v_at constant timestamptz := core.now();
  v_order trading.orders;
  m trading.markets_read;
  v_traders trading.traders_read;
  v_is_over boolean; -- it has expired or is stopped, and has not ended yet
  v_price int;
  v_quantity int;
  v_code text;
  v_message text;
  v_body text;
begin
  if v_problem is not null then
    return ('INVALID_REQUEST', v_problem, false, null)::core.result;
  end if;
  select o.* into v_order
  from trading.find_order(amend_order.user_public_id, amend_order.order_public_id) as o;
  m := trading.read_markets(array[v_order.market_id], v_at);

  v_is_over := v_order.status in ('scheduled', 'open', 'partially_filled')
    and (
      v_order.expires_at <= v_at
      or exists (select from trading.stop_of(v_order.user_id, v_order.id, v_at, at_once => true))
    );
  v_price := coalesce(amend_order.price, v_order.price);
  v_quantity := coalesce(amend_order.quantity, v_order.quantity);
  v_code := trading.amend_rejection(v_order, v_is_over, amend_order.quantity);
  if v_code is null
    and (
      v_price <> v_order.price
      or v_quantity > v_order.quantity
      or (v_quantity < v_order.quantity and v_order.status = 'scheduled')
    )
  then
    return trading.replace_order(
      v_order, v_price, v_quantity, amend_order.price is not null, v_at, amend_order.most_makers
    );
  end if;

  perform trading.lock_traders(array[amend_order.user_id]);
  v_traders := trading.read_traders(array[amend_order.user_id], v_at);
  v_code := coalesce(
    trading.trader_rejection(
      m.site_paused, v_traders.user_ids is not null, v_traders.blocked_by[1]
    ),
    v_code,
    case when v_quantity <> v_order.quantity and not m.is_open[1] then 'MARKET_NOT_OPEN' end
  );
  -- It may have been stopped before the user was locked; then the next call sees it.
  if v_code is null
    and (
      v_traders.missed_switch[1]
      or exists (select from trading.stop_of(v_order.user_id, v_order.id, v_at))
    )
  then
    return ('CONFLICT_RETRY', null, false, null)::core.result;
  end if;
  if v_code = 'ORDER_NOT_AMENDABLE' then
    -- A renewal that was in time may still be committing: then a worker decides in a moment.
    perform trading.end_orders(array[v_order.id], null, v_at);
    v_message := 'Cannot amend order with status: '
      || case when v_is_over then 'cancelled' else v_order.status end;
  elsif v_code is null then
    if v_quantity < v_order.quantity then
      perform trading.reduce_order(v_order, v_quantity, v_at);
    end if;
    v_body := format(
      '{"order":%s,"amended":%s,"queuePositionChanged":false}',
      trading.order_object(
        v_order.public_id, amend_order.user_public_id, m.public_id[1], v_order.side,
        v_order.price, v_quantity, v_order.filled_quantity, v_order.status, v_order.order_type,
        null, null, v_order.expires_at, core.iso8601(v_order.created_at),
        case when v_order.status = 'scheduled'
          then trading.schedule_members(v_order.release_at, null, v_at) end
      ),
      (v_quantity < v_order.quantity)::text
    );
  end if;
  return (v_code, v_message, false, v_body)::core.result;
end
$$;

comment on function trading.amend_order(bigint, uuid, uuid, int, int, int) is
  'Gives a user''s open order a new price, a new total quantity, or both; null keeps what it has. '
  'A smaller quantity at the same price keeps a resting order in its place; anything else replaces '
  'the order. The documented body of PATCH /orders/:id, or a rejection. AGAIN: the order '
  'that replaces it could meet more than most_makers; nothing is changed, and the body is the id '
  'of the market. An order past its expiry '
  'expires instead; one from before the expiry of its user''s dead man''s switch is cancelled. '
  'The caller holds the lock of the market. Locks: the user and the makers that a new order can '
  'reach.';
