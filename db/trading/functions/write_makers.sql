create or replace function trading.write_makers(
  batch trading.matched_batch, orders trading.placed_order[]
)
returns trading.cancelled_order[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  k_read constant int := cardinality(batch.makers);
  k_order_ids constant bigint[] := (batch.maker_arrays).order_ids;
  v_rested constant int[] := (batch.result).rested;
  v_ids bigint[];
  v_left int[];
  v_cancelled trading.cancelled_order[];
begin
  select array_agg(k.id order by k.id), array_agg(k.left_after order by k.id)
  into v_ids, v_left
  from unnest(
    k_order_ids, (batch.maker_arrays).left_quantities,
    (batch.result).left_quantities[1 : k_read]
  ) as k (id, left_before, left_after)
  where k.left_after < k.left_before;

  if v_ids is not null then
    -- By their ids and not by a join: no plan can do worse than look each up.
    with gone as (
      delete from trading.active_orders as b
      where b.order_id = any (v_ids)
        and v_left[width_bucket(b.order_id, v_ids)] <= 0 -- mutant: dead_maker_kept
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
  if (batch.result).cancelled_makers is null then
    return null;
  end if;

  with cancelled as (
    update trading.orders as o set
      filled_quantity = o.quantity - c.left_quantity,
      status = 'cancelled',
      cancel_reason = c.reason,
      cancelled_at = batch.at
    from unnest((batch.result).cancelled_makers) with ordinality as c (
      request, maker, reason, left_quantity, traded_with, place
    )
    where o.id = k_order_ids[c.maker]
    returning
      c.place, c.request, c.left_quantity, c.reason, o.public_id, o.market_id, o.user_id,
      o.side, o.order_type, o.price, o.quantity, o.expires_at, o.created_at
  ),
  all_cancelled as (
    select c.* from cancelled as c
    union all
    -- Orders of the batch itself.
    select
      c.place, c.request, c.left_quantity, c.reason, o.public_id, o.market_id, o.user_id,
      o.side, o.order_type, o.price, o.quantity, o.expires_at, batch.at
    from unnest((batch.result).cancelled_makers) with ordinality as c (
      request, maker, reason, left_quantity, traded_with, place
    )
    cross join lateral (
      select (write_makers.orders[v_rested[c.maker - k_read]]).*
    ) as o
    where c.maker > k_read
  )
  select array_agg(
    (
      a.request, a.public_id, a.market_id, a.user_id, a.side, a.order_type, a.price, a.quantity,
      a.left_quantity, a.reason, a.expires_at, a.created_at
    )::trading.cancelled_order
    order by a.place
  )
  into v_cancelled
  from all_cancelled as a;
  return v_cancelled;
end
$$;

comment on function trading.write_makers(trading.matched_batch, trading.placed_order[]) is
  'Writes what became of the orders that rested before the batch; returns those that it '
  'cancelled, in their order.';
