create or replace function trading.settle_orders(
  context trading.market_context,
  requests trading.order_request[],
  result trading.match_result
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into trading.orders (
    id, public_id, market_id, user_id, side, order_type, price, quantity, filled_quantity,
    budget_cents, time_in_force, post_only, status, cancel_reason, fee_cents, created_at,
    expires_at, cancelled_at
  )
  select
    o.order_id, o.order_public_id, context.market_id, r.user_id, r.side, r.order_type, r.price,
    o.quantity, o.end_filled_quantity, r.budget_cents, r.time_in_force, r.post_only,
    o.end_status, o.end_cancel_reason, o.fee_cents, context.at, r.expires_at,
    case when o.end_status = 'cancelled' then context.at end
  from unnest(settle_orders.requests) with ordinality as r
  join unnest(result.outcomes) with ordinality as o on o.ordinality = r.ordinality
  where o.code is null
    and o.is_replay is null;

  insert into trading.idempotency_keys as k (user_id, key, order_id, created_at)
  select r.user_id, r.idempotency_key, o.order_id, context.at
  from unnest(settle_orders.requests) with ordinality as r
  join unnest(result.outcomes) with ordinality as o on o.ordinality = r.ordinality
  where r.idempotency_key is not null
    and o.code is null
    and o.is_replay is null
  on conflict (user_id, key) do update
  set order_id = excluded.order_id, created_at = excluded.created_at;

  if cardinality(result.resting) > result.resting_read then
    insert into trading.open_orders (
      order_id, market_id, user_id, book_side, book_price, queue_position, expires_at
    )
    select
      r.order_id, context.market_id, r.user_id, r.book_side, r.book_price, r.order_id,
      r.expires_at
    from unnest(result.resting) with ordinality as r
    where r.ordinality > result.resting_read
      and result.resting_left[r.ordinality] > 0;
  end if;

  if cardinality(result.fills) > 0 or cardinality(result.dead_makers) > 0 then
    perform trading.settle_makers(context, result);
  end if;

  if cardinality(result.fills) > 0 then
    perform trading.settle_fills(context, settle_orders.requests, result);
  end if;

  perform trading.change_levels(
    context.market_id, result.level_quantity_change, result.level_order_change
  );

  update trading.books as b set
    version = b.version + result.changes,
    last_trade_price = coalesce(result.last_trade_price, b.last_trade_price),
    yes_volume_cents = b.yes_volume_cents + result.yes_volume_cents,
    no_volume_cents = b.no_volume_cents + result.no_volume_cents,
    trade_count = b.trade_count + cardinality(result.fills),
    traders_count = b.traders_count + result.new_traders
  where b.market_id = context.market_id;
end
$$;

comment on function trading.settle_orders(
  trading.market_context, trading.order_request[], trading.match_result
) is
  'Writes what a batch came to, one statement a table.';
