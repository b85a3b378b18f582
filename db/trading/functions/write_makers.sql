create or replace function trading.write_makers(batch trading.matched_batch)
returns trading.orders[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids bigint[];
  v_left int[];
  v_cancelled trading.orders[];
begin
  select array_agg(k.order_id order by k.order_id), array_agg(l.left_quantity order by k.order_id)
  into v_ids, v_left
  from unnest(batch.makers) with ordinality as k (
    order_id, order_public_id, market, user_id, order_type, book_side, book_price,
    queue_position, left_quantity, has_expired, place
  )
  join unnest((batch.result).left_quantities) with ordinality as l (left_quantity, place)
    on l.place = k.place
  where l.left_quantity < k.left_quantity;

  if v_ids is not null then
    -- By their ids and not by a join: no plan can do worse than look each up.
    with gone as (
      delete from trading.active_orders as b
      where b.order_id = any (v_ids)
        and v_left[width_bucket(b.order_id, v_ids)] <= 0
    ),
    smaller as (
      update trading.active_orders as b
      set left_quantity = v_left[width_bucket(b.order_id, v_ids)]
      where b.order_id = any (v_ids)
        and v_left[width_bucket(b.order_id, v_ids)] > 0
    )
    update trading.orders as o set
      filled_quantity = o.quantity - v_left[width_bucket(o.id, v_ids)],
      status = trading.filled_status(v_left[width_bucket(o.id, v_ids)], o.quantity)
    where o.id = any (v_ids)
      and v_left[width_bucket(o.id, v_ids)] >= 0;
  end if;

  if (batch.result).cancelled_makers is not null then
    with cancelled as (
      update trading.orders as o set
        filled_quantity = o.quantity - c.left_quantity,
        status = 'cancelled',
        cancel_reason = c.reason,
        cancelled_at = batch.at
      from unnest((batch.result).cancelled_makers) as c
      where o.id = (batch.maker_arrays).order_ids[c.maker]
      returning o.*
    )
    select array_agg(c::trading.orders) into v_cancelled
    from cancelled as c;
  end if;
  return v_cancelled;
end
$$;

comment on function trading.write_makers(trading.matched_batch) is
  'Writes what became of the orders that rested before the batch; returns those that it '
  'cancelled, in no order.';
