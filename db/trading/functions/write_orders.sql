create or replace function trading.write_orders(
  orders trading.placed_order[], at timestamptz, has_keys boolean
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with accepted as materialized (
    select o.*
    from unnest(write_orders.orders) as o
    where o.id is not null
  ),
  placed as (
    insert into trading.orders (
      id, public_id, market_id, user_id, side, order_type, price, quantity, filled_quantity,
      budget_cents, time_in_force, post_only, status, cancel_reason, fee_cents, created_at,
      expires_at, release_at, cancelled_at
    )
    select
      o.id, o.public_id, o.market_id, o.user_id, o.side, o.order_type, o.price, o.quantity,
      o.quantity - o.end_left_quantity, o.budget_cents, o.time_in_force, o.post_only,
      o.end_status, o.end_cancel_reason, coalesce(o.fee_cents, 0), write_orders.at, o.expires_at,
      o.release_at, case when o.end_status = 'cancelled' then write_orders.at end
    from accepted as o
    where not o.was_scheduled
  ),
  keys as (
    insert into trading.idempotency_keys as k (
      user_id, key, order_id, created_at, request_fingerprint
    )
    select o.user_id, o.idempotency_key, o.id, write_orders.at, o.request_fingerprint
    from accepted as o
    where write_orders.has_keys
      and o.idempotency_key is not null
    on conflict (user_id, key) do update
    set
      order_id = excluded.order_id,
      created_at = excluded.created_at,
      request_fingerprint = excluded.request_fingerprint,
      reply = null,
      cancelled_orders = null
  )
  insert into trading.active_orders (
    market_id, user_id, order_id, queue_position, order_public_id, left_quantity, book_price,
    book_side, order_type, expires_at, release_at, cancels_own
  )
  select
    o.market_id, o.user_id, o.id,
    case
      when o.release_at is not null then null
      when o.was_scheduled then nextval('trading.orders_id_seq') -- mutant: released_to_the_front
      else o.id
    end,
    o.public_id, o.end_left_quantity, o.book_price, o.book_side, o.order_type, o.expires_at,
    o.release_at, nullif(o.cancels_own, false)
  from accepted as o
  where o.end_status in ('scheduled', 'open', 'partially_filled');
end
$$;

comment on function trading.write_orders(trading.placed_order[], timestamptz, boolean) is
  'Writes the orders that a batch accepted, what of them rests or waits for its release, and which '
  'orders their idempotency keys stand for (has_keys: some request has one). A key older than 24 '
  'hours is taken over.';
