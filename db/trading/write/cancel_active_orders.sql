create or replace function trading.cancel_active_orders(
  order_ids bigint[],
  reason trading.cancel_reason,
  at timestamptz,
  expires boolean default false,
  announced boolean default true,
  counted boolean default true
)
returns int
language plpgsql
as $$
declare
  c_expired_by constant timestamptz := case
    when cancel_active_orders.expires then cancel_active_orders.at
  end;
  v_gone trading.active_orders[];
  v_announced_ids bigint[];
  v_cancelled int;
  v_market_id bigint;
  v_places int[];
  v_changes bigint[];
begin
  with gone as (
    delete from trading.active_orders as b
    where b.order_id = any (cancel_active_orders.order_ids)
    returning b.*
  ),
  ended as (
    insert into trading.ended_orders (
      market_id, user_id, id, public_id, created_at, ended_at, quantity, filled_quantity, fee_cents,
      price, side, order_type, time_in_force, status, post_only, cancel_reason, budget_cents,
      expires_at, release_at, released_at
    )
    select
      g.market_id, g.user_id, g.order_id, g.order_public_id, g.created_at, cancel_active_orders.at,
      g.quantity, g.quantity - g.left_quantity, g.fee_cents, g.price, g.side, g.order_type,
      g.time_in_force, 'cancelled', g.post_only,
      case when g.expires_at <= c_expired_by then 'expired' else cancel_active_orders.reason end,
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
    perform trading.write_depth(v_market_id, v_places, v_changes, cancel_active_orders.counted);
  end loop;
  select
    array_agg(g.order_id) filter (
      where cancel_active_orders.announced
        or g.expires_at <= c_expired_by
    ),
    count(*) filter (where (g.expires_at <= c_expired_by) is not true)
  into v_announced_ids, v_cancelled
  from unnest(v_gone) as g;
  if v_announced_ids is not null then
    perform trading.announce_cancelled(v_announced_ids);
  end if;
  return v_cancelled;
end
$$;

comment on function trading.cancel_active_orders(
  bigint[], trading.cancel_reason, timestamptz, boolean, boolean, boolean
) is
  'Takes open orders of any markets off their books, or out of their delay, for one reason; '
  'returns how many were still there. expires: those past their expiry expire instead, and are '
  'not counted. announced: with order_cancelled events for the owners, who did not ask for it; an '
  'order that expires instead always has one. counted: a change of a book raises the version of '
  'its market by one, however many orders leave it, with a market_changed event. The caller holds '
  'the locks of the markets.';
