create or replace function trading.write_makers(batch trading.batch)
returns void
language plpgsql
as $$
declare
  k constant trading.makers := batch.makers;
  k_left constant int[] := batch.makers_left;
  v_lost record; -- the makers that lost shares, in ascending id
begin
  select array_agg(x.id) as ids, array_agg(x.place) as places into v_lost
  from (
    select k.order_id[i] as id, i as place
    from generate_subscripts(k.order_id, 1) as i
    where k_left[i] < k.left_quantity[i]
    order by 1
  ) as x;

  -- By their ids and not by a join: no plan can do worse than look each up.
  with gone as (
    delete from trading.active_orders as b
    where b.order_id = any (v_lost.ids)
      and k_left[v_lost.places[width_bucket(b.order_id, v_lost.ids)]] <= 0
    returning b.*, v_lost.places[width_bucket(b.order_id, v_lost.ids)] as place
  ),
  smaller as (
    update trading.active_orders as b
    set left_quantity = k_left[v_lost.places[width_bucket(b.order_id, v_lost.ids)]]
    where b.order_id = any (v_lost.ids)
      and k_left[v_lost.places[width_bucket(b.order_id, v_lost.ids)]] > 0
  )
  insert into trading.ended_orders (
    market_id, user_id, id, public_id, created_at, ended_at, quantity, filled_quantity, fee_cents,
    price, side, order_type, time_in_force, status, post_only, cancel_reason, expires_at,
    release_at, released_at
  )
  select
    g.market_id, g.user_id, g.order_id, g.order_public_id, g.created_at, batch.at, g.quantity,
    g.quantity - abs(k_left[g.place]), g.fee_cents, g.price, g.side, g.order_type,
    g.time_in_force,
    case when k_left[g.place] < 0 then 'cancelled' else 'filled' end::trading.order_status,
    g.post_only, k.end_reason[g.place], g.expires_at, g.release_at, g.released_at
  from gone as g;
end
$$;

comment on function trading.write_makers(trading.batch) is
  'Writes what matching made of the resting orders that were read: those that are filled or '
  'cancelled move to trading.ended_orders.';
