create or replace function trading.cancel_together(
  order_ids bigint[], at timestamptz, announced boolean
)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone trading.active_orders[];
  v_market_id bigint;
  v_places int[];
  v_changes bigint[];
begin
  with gone as (
    delete from trading.active_orders as b
    where b.order_id = any (cancel_together.order_ids)
    returning b.*
  ),
  cancelled as (
    update trading.orders as o set
      status = 'cancelled',
      cancel_reason = case
        when o.expires_at <= cancel_together.at then 'expired'::trading.cancel_reason -- mutant: expired_counted_as_cancelled
        else 'user_cancelled'
      end,
      cancelled_at = cancel_together.at
    where o.id = any (array(select g.order_id from gone as g))
  )
  select array_agg(g::trading.active_orders order by g.market_id, g.order_id)
  into v_gone
  from gone as g;
  if v_gone is null then
    return 0;
  end if;

  for v_market_id, v_places, v_changes in
    select
      g.market_id,
      array_agg(trading.depth_place(g.book_side, g.book_price)),
      array_agg(-g.left_quantity::bigint)
    from unnest(v_gone) as g
    where g.queue_position is not null
    group by g.market_id
    order by g.market_id
  loop
    perform trading.write_depth(v_market_id, v_places, v_changes, counted => true);
  end loop;

  perform trading.announce_cancelled(array(
    select g.order_id
    from unnest(v_gone) as g
    where cancel_together.announced -- mutant: switch_fires_silently
      or g.expires_at <= cancel_together.at
    order by g.order_id
  ));
  return (
    select count(*)
    from unnest(v_gone) as g
    where g.expires_at is null or g.expires_at > cancel_together.at
  );
end
$$;

comment on function trading.cancel_together(bigint[], timestamptz, boolean) is
  'Cancels open orders of any markets (user_cancelled), resting and scheduled ones; returns how '
  'many were still there. Those past their expiry expire, and are not counted. announced: with '
  'order_cancelled events; an expiry always has one. One change of each market, however many '
  'orders leave its book. The caller holds the locks of the markets.';
