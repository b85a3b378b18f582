create or replace function trading.release_orders(market_id bigint, most int)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz;
  v_context trading.market_context;
  v_requests trading.order_request[];
  v_batch trading.matched_batch;
begin
  perform trading.lock_market(release_orders.market_id);
  v_at := core.now();
  v_requests := array(
    select (
      o.user_id, o.side, o.order_type, o.price,
      case when o.budget_cents is null then o.quantity end, o.budget_cents,
      o.time_in_force, o.post_only, o.expires_at, null, b.book_side, b.book_price, null, null,
      false, trading.active_order_cost_cents(o, b, v_at), o.id, o.public_id, o.created_at
    )::trading.order_request
    from trading.active_orders as b
    cross join lateral (
      select x.* from trading.orders as x where x.id = b.order_id limit 1
    ) as o
    where b.market_id = release_orders.market_id
      and b.queue_position is null
      and b.release_at <= v_at
    order by b.release_at, b.order_id
    limit release_orders.most
  );
  if cardinality(v_requests) = 0 then
    return 0;
  end if;

  select c.* into v_context
  from trading.read_context(release_orders.market_id, v_at) as c;
  v_context.live_delay_ms := null; -- they have waited
  v_batch := trading.match_batch(v_context, v_requests, false);
  perform trading.settle_released(v_context, v_batch.result);
  perform trading.announce_released(v_context, v_batch.result);
  perform trading.settle_batch(v_context, v_batch);
  return cardinality(v_requests);
end
$$;

comment on function trading.release_orders(bigint, int) is
  'Releases what is due of a market''s scheduled orders, at most so many, in the order of their '
  'release time and then of their acceptance: each is judged and matched as if it had just been '
  'placed, and whatever would have refused it cancels it. Returns how many. Locks as '
  'api.place_orders does.';
