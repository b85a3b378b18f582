create or replace function trading.end_active_orders(
  market_id bigint,
  order_ids bigint[],
  reason trading.cancel_reason,
  at timestamptz,
  counted boolean default false
)
returns setof trading.active_orders
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone trading.active_orders[];
  v_places int[];
  v_changes bigint[];
begin
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
  )
  select array_agg(g::trading.active_orders order by g.order_id)
  into v_gone
  from gone as g;

  v_places := array(
    select trading.depth_place(g.book_side, g.book_price)
    from unnest(v_gone) as g
    where g.queue_position is not null
  );
  v_changes := array(
    select -g.left_quantity::bigint
    from unnest(v_gone) as g
    where g.queue_position is not null
  );
  if cardinality(v_places) > 0 then
    perform trading.write_depth(
      end_active_orders.market_id, v_places, v_changes, end_active_orders.counted
    );
  end if;
  return query select g.* from unnest(v_gone) as g;
end
$$;

comment on function trading.end_active_orders(
  bigint, bigint[], trading.cancel_reason, timestamptz, boolean
) is
  'Takes open orders of one market off the book, or out of their delay, for one reason; returns '
  'those that were still there, by id. counted: a change of the book raises the version of the '
  'market by one, with a market_changed event. The caller holds the market''s lock.';
