create or replace function trading.end_active_orders(
  order_ids bigint[],
  reason trading.cancel_reason,
  at timestamptz,
  expires boolean,
  counted boolean
)
returns table (order_id bigint, has_expired boolean)
language plpgsql
as $$
declare
  c_expired_by constant timestamptz := case
    when end_active_orders.expires then end_active_orders.at
  end;
  v_gone trading.active_orders[];
  v_market_id bigint;
  v_places int[];
  v_changes bigint[];
begin
  with gone as (
    delete from trading.active_orders as b
    where b.order_id = any (end_active_orders.order_ids)
    returning b.*
  ),
  ended as (
    insert into trading.ended_orders (
      market_id, user_id, id, public_id, created_at, ended_at, quantity, filled_quantity, fee_cents,
      price, side, order_type, time_in_force, status, post_only, cancel_reason, budget_cents,
      expires_at, release_at, released_at
    )
    select
      g.market_id, g.user_id, g.order_id, g.order_public_id, g.created_at, end_active_orders.at,
      g.quantity, g.quantity - g.left_quantity, g.fee_cents, g.price, g.side, g.order_type,
      g.time_in_force, 'cancelled', g.post_only,
      case when g.expires_at <= c_expired_by then 'expired' else end_active_orders.reason end,
      g.budget_cents, g.expires_at, g.release_at, g.released_at
    from gone as g
  )
  select array_agg(g::trading.active_orders order by g.order_id)
  into v_gone
  from gone as g;

  for v_market_id, v_places, v_changes in
    select
      g.market_id,
      array_agg(trading.depth_place(g.book_side, g.book_price)),
      array_agg(-g.left_quantity::bigint)
    from unnest(v_gone) as g
    where g.queue_position is not null
    group by g.market_id
    order by g.market_id
  loop
    perform trading.write_depth(v_market_id, v_places, v_changes, end_active_orders.counted);
  end loop;
  return query
    select g.order_id, coalesce(g.expires_at <= c_expired_by, false)
    from unnest(v_gone) as g;
end
$$;

comment on function trading.end_active_orders(
  bigint[], trading.cancel_reason, timestamptz, boolean, boolean
) is
  'Takes open orders of any markets off their books, or out of their delay, for one reason; '
  'returns those that were still there, by id. expires: those past their expiry expire instead. '
  'counted: a change of a book raises the version of its market by one, however many orders leave '
  'it, with a market_changed event. The caller holds the locks of the markets.';
