create or replace function trading.due_requests(market_ids bigint[], most int, at timestamptz)
returns trading.requests
language plpgsql stable
as $$
declare
  v_requests trading.requests;
begin
  select
    array_agg(d.market_place), array_agg(d.user_id), array_agg(d.side), array_agg(d.order_type),
    array_agg(d.price::int), array_agg(case when d.budget_cents is null then d.quantity::int end),
    array_agg(d.budget_cents::int), array_agg(d.time_in_force), array_agg(d.post_only),
    array_agg(d.expires_at), array_agg(d.cancels_own), array_agg(d.book_side = 'yes'),
    array_agg(d.book_price::int), array_agg(d.order_id), array_agg(d.order_public_id),
    array_agg(d.created_at), array_agg(d.release_at), array_agg(d.relieved_cents)
  into
    v_requests.market_place, v_requests.user_id, v_requests.side, v_requests.order_type,
    v_requests.price, v_requests.quantity, v_requests.budget_cents, v_requests.time_in_force,
    v_requests.post_only, v_requests.expires_at, v_requests.cancels_own, v_requests.is_yes,
    v_requests.book_price, v_requests.order_id, v_requests.public_id, v_requests.created_at,
    v_requests.release_at, v_requests.relieved_cents
  from (
    select b.*, u.market_place::int
    from unnest(due_requests.market_ids) with ordinality as u (id, market_place)
    cross join lateral (
      select y.*, trading.active_order_cost_cents(y, due_requests.at) as relieved_cents
      from trading.active_orders as y
      where y.market_id = u.id
        and y.queue_position is null
        and y.release_at <= due_requests.at
      order by y.release_at, y.order_id
      limit due_requests.most
    ) as b
    order by b.release_at, b.order_id
    limit due_requests.most
  ) as d;
  v_requests.market_ids := due_requests.market_ids;
  return v_requests;
end
$$;

comment on function trading.due_requests(bigint[], int, timestamptz) is
  'The scheduled orders of some markets that are due to be released, at most so many, as requests, '
  'in the order of their release time and then of their acceptance. The ids are ascending, and '
  'the caller holds the locks of the markets.';
