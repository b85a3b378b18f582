create or replace function trading.sole_maker(
  request trading.order_request, context trading.market_context
)
returns trading.resting_order
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_maker trading.resting_order;
  c_side constant trading.side := case request.book_side
    when 'yes' then 'no'
    else 'yes'
  end::trading.side;
begin
  if request.quantity is null or request.post_only or request.problem is not null then
    return null;
  end if;
  select
    o.id, o.public_id, o.user_id, o.side, o.order_type, o.price::int, o.quantity::int,
    o.filled_quantity, o.created_at, o.expires_at, b.book_side, b.book_price::int, null::bigint
  into v_maker
  from trading.active_orders as b
  cross join lateral (
    select x.* from trading.orders as x where x.id = b.order_id limit 1
  ) as o
  where b.market_id = context.market_id
    and b.book_side = c_side
    and b.book_price = case c_side when 'yes' then context.best_yes else context.best_no end
    and b.queue_position = case c_side
      when 'yes' then context.first_yes_position
      else context.first_no_position
    end
  limit 1;
  if request.quantity > v_maker.quantity - v_maker.filled_quantity
    or v_maker.user_id = request.user_id
    or v_maker.expires_at <= context.at
  then
    return null;
  end if;
  return v_maker;
end
$$;

comment on function trading.sole_maker(trading.order_request, trading.market_context) is
  'The order that fills a crossing request whole and alone, if it is alive: the best one of the '
  'other side. Null when there is more to it: several fills, an order past its expiry, the user''s '
  'own order, a budget, post-only. To be called under the market''s lock.';
