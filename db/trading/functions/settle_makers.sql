create or replace function trading.settle_makers(
  context trading.market_context, result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids bigint[];
  v_left int[];
begin
  select
    array_agg(r.order_id order by r.order_id),
    array_agg(result.resting_left[r.ordinality] order by r.order_id)
  into v_ids, v_left
  from unnest(result.resting) with ordinality as r
  where r.ordinality <= result.resting_read
    and result.resting_left[r.ordinality] < r.quantity - r.filled_quantity;

  -- By their ids and not by a join: no plan can do worse than look each up.
  with gone as (
    delete from trading.active_orders as b
    where b.order_id = any (v_ids)
      and v_left[width_bucket(b.order_id, v_ids)] <= 0
  )
  update trading.orders as o set
    filled_quantity = o.quantity - v_left[width_bucket(o.id, v_ids)],
    status = trading.filled_status(v_left[width_bucket(o.id, v_ids)], o.quantity)
  where o.id = any (v_ids)
    and v_left[width_bucket(o.id, v_ids)] >= 0;

  if result.cancelled_makers is not null then
    update trading.orders as o set
      filled_quantity = d.filled_quantity,
      status = 'cancelled',
      cancel_reason = d.reason,
      cancelled_at = context.at
    from unnest(result.cancelled_makers) as d
    where o.id = (d."order").order_id
      and d.resting <= result.resting_read;
  end if;
end
$$;

comment on function trading.settle_makers(trading.market_context, trading.match_result) is
  'Writes what became of the orders that rested before the batch.';
