create or replace function trading.due_requests(market_ids bigint[], most int, at timestamptz)
returns trading.order_request[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_requests trading.order_request[] := '{}';
  v_request trading.order_request;
  v_active_order trading.active_orders;
  v_order trading.orders;
begin
  for v_active_order in
    select d.*
    from unnest(due_requests.market_ids) as u (id)
    cross join lateral (
      select b.*
      from trading.active_orders as b
      where b.market_id = u.id
        and b.queue_position is null
        and b.release_at <= due_requests.at -- mutant: release_a_moment_early
      order by b.release_at, b.order_id
      limit due_requests.most
    ) as d
    order by d.release_at, d.order_id -- mutant: release_out_of_order
    limit due_requests.most
  loop
    select o.* into strict v_order
    from trading.orders as o
    where o.id = v_active_order.order_id;
    v_request.market := 1;
    v_request.market_id := v_order.market_id;
    v_request.user_id := v_order.user_id;
    v_request.side := v_order.side;
    v_request.order_type := v_order.order_type;
    v_request.price := v_order.price;
    v_request.quantity := case when v_order.budget_cents is null then v_order.quantity end;
    v_request.budget_cents := v_order.budget_cents;
    v_request.time_in_force := v_order.time_in_force;
    v_request.post_only := v_order.post_only;
    v_request.expires_at := v_order.expires_at;
    v_request.book_side := v_active_order.book_side;
    v_request.book_price := v_active_order.book_price;
    v_request.is_market := false;
    v_request.relieved_cents := trading.active_order_cost_cents(v_active_order, due_requests.at);
    v_request.order_id := v_order.id;
    v_request.order_public_id := v_order.public_id;
    v_request.created_at := v_order.created_at;
    v_request.cancels_own := v_active_order.cancels_own;
    v_requests[cardinality(v_requests) + 1] := v_request;
  end loop;
  return v_requests;
end
$$;

comment on function trading.due_requests(bigint[], int, timestamptz) is
  'The scheduled orders of some markets that are due to be released, at most so many, as requests, '
  'in the order of their release time and then of their acceptance, all with market 1: see '
  'trading.requests_of_markets. The caller holds the locks of the markets.';
