create or replace function trading.settle_released(
  context trading.market_context, result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with released as (
    select
      (r.request).order_id,
      coalesce(r.quantity, (r.request).quantity, 0) as quantity,
      coalesce(r.end_filled_quantity, 0) as filled_quantity,
      coalesce(r.end_status, 'cancelled') as status,
      coalesce(
        r.end_cancel_reason, trading.release_reason(r.code, (r.request).order_type)
      ) as cancel_reason,
      coalesce(r.fee_cents, 0) as fee_cents
    from unnest(result.outcomes) as r
    where r.code is distinct from 'CONFLICT_RETRY'
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
    cancelled_at = case when r.status = 'cancelled' then context.at end,
    fee_cents = r.fee_cents,
    released_at = context.at
  from released as r
  where o.id = r.order_id;
end
$$;

comment on function trading.settle_released(trading.market_context, trading.match_result) is
  'Writes what scheduled orders became at their release: each leaves its delay, and what refused '
  'it is why it is cancelled. Those that rest are put on the book by trading.settle_orders. One '
  'that could not be finished (CONFLICT_RETRY) stays scheduled and due.';
