create or replace function trading.settle_makers(
  context trading.market_context, result trading.match_result
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  update trading.orders as o set
    filled_quantity = r.quantity - r.left_quantity,
    status = trading.filled_status(r.left_quantity, r.quantity)
  from (
    select u.order_id, u.quantity, u.filled_quantity, result.resting_left[u.ordinality]
    from unnest(result.resting) with ordinality as u
    where u.ordinality <= result.resting_read
  ) as r (order_id, quantity, filled_quantity, left_quantity)
  where o.id = r.order_id
    and r.left_quantity between 0 and r.quantity - r.filled_quantity - 1;

  if result.dead_makers is not null then
    update trading.orders as o set
      filled_quantity = d.filled_quantity,
      status = 'cancelled',
      cancel_reason = d.reason,
      cancelled_at = context.at
    from unnest(result.dead_makers) as d
    where d.resting <= result.resting_read
      and o.id = (d."order").order_id;
  end if;

  delete from trading.open_orders as b
  where b.order_id = any (array(
    select u.order_id
    from unnest(result.resting) with ordinality as u
    where u.ordinality <= result.resting_read
      and result.resting_left[u.ordinality] <= 0
  ));
end
$$;

comment on function trading.settle_makers(trading.market_context, trading.match_result) is
  'Writes what became of the orders that rested before the batch.';
