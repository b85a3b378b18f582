create or replace function trading.write_released(
  batch trading.matched_batch, orders trading.placed_order[]
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with released as (
    select
      (x.request).order_id,
      coalesce((x.placed).quantity, (x.request).quantity, 0) as quantity,
      coalesce((x.placed).quantity - (x.placed).end_left_quantity, 0) as filled_quantity,
      coalesce((x.placed).end_status, 'cancelled') as status,
      coalesce(
        (x.placed).end_cancel_reason,
        trading.release_reason((x.placed).code, (x.request).order_type)
      ) as cancel_reason,
      coalesce((x.placed).fee_cents, 0) as fee_cents
    from generate_subscripts(batch.requests, 1) as i
    cross join lateral (
      select batch.requests[i] as request, write_released.orders[i] as placed
      offset 0 -- each element is looked up once
    ) as x
    where (x.placed).code is distinct from 'CONFLICT_RETRY'
  ),
  waited as (
    delete from trading.active_orders as b
    where b.order_id = any (array(select r.order_id from released as r))
  )
  update trading.orders as o set
    quantity = r.quantity,
    filled_quantity = r.filled_quantity,
    status = r.status,
    cancel_reason = r.cancel_reason,
    cancelled_at = case when r.status = 'cancelled' then batch.at end,
    fee_cents = r.fee_cents,
    released_at = batch.at
  from released as r
  where o.id = r.order_id;
end
$$;

comment on function trading.write_released(trading.matched_batch, trading.placed_order[]) is
  'Writes what scheduled orders became by their release and by the rest of its batch: each leaves '
  'its delay, and a rejection is its cancel reason. Those that rest are put on the book by '
  'trading.write_batch, after this. One that could not be finished (CONFLICT_RETRY) stays '
  'scheduled and due.';
