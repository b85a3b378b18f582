create or replace function trading.write_released(batch trading.matched_batch)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with released as (
    select
      (x.request).order_id,
      coalesce((x.result).quantity, (x.request).quantity, 0) as quantity,
      coalesce((x.result).quantity - l.left_quantity, 0) as filled_quantity,
      case
        when (x.result).code is not null or c.maker is not null then 'cancelled'
        when (x.result).maker is not null
          then trading.filled_status(l.left_quantity, (x.result).quantity)
        else (x.result).status
      end as status,
      case
        when (x.result).code is not null
          then trading.release_reason((x.result).code, (x.request).order_type)
        else coalesce(c.reason, (x.result).cancel_reason)
      end as cancel_reason,
      coalesce((x.result).fee_cents, 0) as fee_cents
    from generate_subscripts(batch.requests, 1) as i
    cross join lateral (
      select batch.requests[i] as request, (batch.result).results[i] as result
      offset 0 -- each element is looked up once
    ) as x
    left join unnest((batch.result).cancelled_makers) as c on c.maker = (x.result).maker
    -- What the later orders of the batch left of one that came to rest.
    cross join lateral (
      select coalesce(
        c.left_quantity,
        (batch.result).left_quantities[(x.result).maker],
        (x.result).left_quantity
      ) as left_quantity
    ) as l
    where (x.result).code is distinct from 'CONFLICT_RETRY'
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

comment on function trading.write_released(trading.matched_batch) is
  'Writes what scheduled orders became by their release and by the rest of its batch: each leaves '
  'its delay, and what refused it is why it is cancelled. Those that rest are put on the book by '
  'trading.write_batch, after this. One that could not be finished (CONFLICT_RETRY) stays '
  'scheduled and due.';
