-- The rules are those of trading.match_orders, by the same functions; the property tests hold the
-- two ways together. This one touches half as much and is twice as fast.
create or replace function trading.rest_order(
  request trading.order_request, context trading.market_context
)
returns api.result
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_leads boolean;
  v_trader record;
  v_limits trading.limit_arrays;
  v_held_quantity bigint;
  v_code text;
  v_order_id bigint;
  v_order_public_id uuid;
begin
  select
    a.balance_cents,
    (select u.public_id from identity.users as u where u.id = a.user_id) as user_public_id,
    risk.blocked_by(r, context.at) as blocked_by,
    risk.has_limits(r) as limited
  into v_trader
  from ledger.accounts as a
  join trading.traders as r on r.user_id = a.user_id
  where a.user_id = request.user_id
  for no key update of a, r;

  v_code := trading.request_rejection(
    request, context, v_trader.user_public_id is not null, v_trader.blocked_by
  );
  if v_code is null then
    if v_trader.limited then
      v_limits := trading.read_limits(
        array[request.user_id], array[request.user_id], context.at
      );
    end if;
    if request.order_type = 'sell' then
      v_held_quantity := coalesce(
        (
          select p.quantity
          from trading.positions as p
          where p.market_id = context.market_id
            and p.user_id = request.user_id
            and p.side = request.side
        ),
        0
      );
    end if;
    v_code := case
      when request.time_in_force = 'ioc' then 'INSUFFICIENT_LIQUIDITY'
      else trading.funding_rejection(
        request, request.quantity * request.price, request.quantity * request.price,
        v_trader.balance_cents, v_held_quantity,
        v_limits.limits[1], v_limits.untraded[1], v_limits.open_cost_cents[1]
      )
    end;
  end if;
  if v_code is not null then
    return (
      v_code, trading.rejection_message(v_code, request), false, null
    )::api.result;
  end if;

  v_order_id := nextval('trading.orders_id_seq');
  v_order_public_id := core.uuid_v7();
  v_leads := request.book_price > case request.book_side
    when 'yes' then context.best_yes
    else context.best_no
  end;
  with placed as (
    insert into trading.orders (
      id, public_id, market_id, user_id, side, order_type, price, quantity, time_in_force,
      post_only, status, created_at, expires_at
    )
    values (
      v_order_id, v_order_public_id, context.market_id, request.user_id, request.side,
      request.order_type, request.price, request.quantity, 'gtc', request.post_only, 'open',
      context.at, request.expires_at
    )
  ),
  rested as (
    insert into trading.active_orders (
      order_id, market_id, user_id, book_side, book_price, queue_position, expires_at
    )
    values (
      v_order_id, context.market_id, request.user_id, request.book_side, request.book_price,
      v_order_id, request.expires_at
    )
  ),
  deepened as (
    update trading.book_levels as l set
      quantity = l.quantity + request.quantity,
      order_count = l.order_count + 1
    where l.market_id = context.market_id
      and l.book_price = request.book_price
      and l.book_side = request.book_side
  ),
  changed as (
    update trading.market_state as b set
      version = b.version + 1,
      placed_count = b.placed_count + 1,
      placed_id_sum = b.placed_id_sum + v_order_id,
      front_yes_price = case
        when v_leads and request.book_side = 'yes' then request.book_price else context.best_yes
      end,
      front_yes_position = case
        when v_leads and request.book_side = 'yes' then v_order_id else context.first_yes_position
      end,
      front_no_price = case
        when v_leads and request.book_side = 'no' then request.book_price else context.best_no
      end,
      front_no_position = case
        when v_leads and request.book_side = 'no' then v_order_id else context.first_no_position
      end
    where b.market_id = context.market_id
    returning b.version
  )
  insert into trading.outbox (channel, payload)
  select 'market_changed', json_build_object(
    'marketId', context.market_public_id, 'version', c.version
  )
  from changed as c;

  return (
    null, null, false,
    format(
      '{"order":%s,"fills":[],"cancelledOrders":[],"balance":%s,"feeCents":0}',
      trading.order_object(
        v_order_public_id, v_trader.user_public_id, context.market_public_id, request.side,
        request.price, request.quantity, 0, 'open', request.order_type, 'gtc', null,
        request.expires_at, core.iso8601(context.at), null
      ),
      trading.balance_object(v_trader.balance_cents)
    )
  )::api.result;
end
$$;

comment on function trading.rest_order(trading.order_request, trading.market_context) is
  'The short way of a lone order that meets nothing: it is refused, or rests on the book. The '
  'answer is that of api.place_orders. The caller holds the market''s lock; locks the user.';
