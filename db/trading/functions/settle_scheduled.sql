create or replace function trading.settle_scheduled(
  context trading.market_context, result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_release_at constant timestamptz :=
    context.at + context.live_delay_ms * interval '1 millisecond';
begin
  with scheduled as (
    select o.*
    from unnest(result.outcomes) as o
    where o.code is null
      and o.is_replay is null
  ),
  placed as (
    insert into trading.orders (
      id, public_id, market_id, user_id, side, order_type, price, quantity, budget_cents,
      time_in_force, post_only, status, created_at, expires_at, release_at
    )
    select
      o.order_id, o.order_public_id, context.market_id, (o.request).user_id, (o.request).side,
      (o.request).order_type, (o.request).price, o.quantity, (o.request).budget_cents,
      (o.request).time_in_force, (o.request).post_only, o.status, context.at,
      (o.request).expires_at, v_release_at
    from scheduled as o
    returning id
  ),
  counted as (
    update trading.market_state as b set
      placed_count = b.placed_count + p.order_count,
      placed_id_sum = b.placed_id_sum + p.id_sum
    from (
      select count(*) as order_count, coalesce(sum(x.id), 0)::bigint as id_sum
      from placed as x
    ) as p
    where b.market_id = context.market_id
      and p.order_count > 0
  ),
  waiting as (
    insert into trading.active_orders (
      order_id, market_id, user_id, book_side, book_price, expires_at, release_at
    )
    select
      o.order_id, context.market_id, (o.request).user_id, (o.request).book_side,
      (o.request).book_price, (o.request).expires_at, v_release_at
    from scheduled as o
  )
  insert into trading.outbox (channel, payload)
  select
    'user_event',
    json_build_object(
      'userId', o.user_public_id,
      'event', json_build_object(
        'type', 'order_pending',
        'orderId', o.order_public_id,
        'marketId', context.market_public_id,
        'side', (o.request).side,
        'price', (o.request).price,
        'quantity', o.quantity,
        'releaseAt', core.iso8601(v_release_at),
        'budgetCents', (o.request).budget_cents
      )
    )
  from scheduled as o;
end
$$;

comment on function trading.settle_scheduled(trading.market_context, trading.match_result) is
  'Writes the orders of a batch that a live market took, to wait for their release, and tells '
  'their users (order_pending). The book and its version stay as they are.';
