create or replace function trading.end_active_orders(
  market_id bigint, order_ids bigint[], reason trading.cancel_reason, at timestamptz
)
returns setof trading.active_orders
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with gone as (
    delete from trading.active_orders as b
    where b.order_id = any (end_active_orders.order_ids)
      and b.market_id = end_active_orders.market_id
    returning b.*
  ),
  cancelled as (
    update trading.orders as o set
      status = 'cancelled',
      cancel_reason = end_active_orders.reason,
      cancelled_at = end_active_orders.at
    where o.id = any (array(select g.order_id from gone as g))
    returning o.id, o.quantity - o.filled_quantity as left_quantity
  ),
  thinned as (
    update trading.book_levels as l set
      quantity = l.quantity - x.quantity,
      order_count = l.order_count - x.order_count
    from (
      select
        g.book_side, g.book_price, sum(c.left_quantity) as quantity, count(*) as order_count
      from gone as g
      join cancelled as c on c.id = g.order_id
      where g.queue_position is not null
      group by g.book_side, g.book_price
    ) as x
    where l.market_id = end_active_orders.market_id
      and l.book_price = x.book_price
      and l.book_side = x.book_side
  )
  select g.*
  from gone as g
  order by g.order_id;
end
$$;

comment on function trading.end_active_orders(
  bigint, bigint[], trading.cancel_reason, timestamptz
) is
  'Takes open orders of one market off the book, or out of their delay, for one reason; gives '
  'those that were still there. Neither counts nor tells it. The caller holds the market''s lock.';
