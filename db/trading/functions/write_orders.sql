create or replace function trading.write_orders(
  batch trading.matched_batch, written trading.written_batch
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_read constant int := cardinality(batch.makers);
begin
  with accepted as materialized (
    select
      r.*, o.status, o.quantity as ordered_quantity, o.left_quantity, o.cancel_reason,
      o.fee_cents, o.maker, written.order_ids[r.place] as id,
      written.order_public_ids[r.place] as public_id,
      (batch.result).left_quantities[o.maker] as end_left,
      batch.at + (batch.markets[r.market]).live_delay_ms * interval '1 millisecond' as due_at
    from unnest(batch.requests) with ordinality as r (
      market, market_id, user_id, side, order_type, price, quantity, budget_cents,
      time_in_force, post_only, expires_at, idempotency_key, book_side, book_price, problem,
      is_market, relieved_cents, order_id, order_public_id, created_at, place
    )
    join unnest((batch.result).results) with ordinality as o (
      code, replay_of, replayed_order_id, status, quantity, left_quantity, cancel_reason,
      fee_cents, balance_cents, maker, place
    ) on o.place = r.place
    where written.order_ids[r.place] is not null
  ),
  ended as (
    -- Orders that came to rest may have been met by later requests of the batch.
    select
      a.*,
      case when a.end_left < 0 then c.left_quantity else coalesce(a.end_left, a.left_quantity) end
        as final_left,
      case
        when a.end_left < 0 then 'cancelled'::trading.order_status
        when a.end_left is not null
          then trading.filled_status(a.end_left, a.ordered_quantity)
        else a.status
      end as final_status,
      case when a.end_left < 0 then c.reason else a.cancel_reason end as final_reason
    from accepted as a
    left join lateral (
      select x.left_quantity, x.reason
      from unnest((batch.result).cancelled_makers) as x
      where x.maker = a.maker
    ) as c on a.end_left < 0
  ),
  placed as (
    insert into trading.orders (
      id, public_id, market_id, user_id, side, order_type, price, quantity, filled_quantity,
      budget_cents, time_in_force, post_only, status, cancel_reason, fee_cents, created_at,
      expires_at, release_at, cancelled_at
    )
    select
      e.id, e.public_id, e.market_id, e.user_id, e.side, e.order_type, e.price,
      e.ordered_quantity, e.ordered_quantity - e.final_left, e.budget_cents, e.time_in_force,
      e.post_only, e.final_status, e.final_reason, coalesce(e.fee_cents, 0), batch.at,
      e.expires_at, case when e.status = 'scheduled' then e.due_at end,
      case when e.final_status = 'cancelled' then batch.at end
    from ended as e
    where e.order_id is null
  ),
  activated as (
    insert into trading.active_orders (
      market_id, user_id, order_id, queue_position, order_public_id, left_quantity, book_price,
      book_side, order_type, expires_at, release_at
    )
    select
      e.market_id, e.user_id, e.id,
      case
        when e.status = 'scheduled' then null
        when e.order_id is null then e.id
        else nextval('trading.orders_id_seq')
      end,
      e.public_id, e.final_left, e.book_price, e.book_side, e.order_type, e.expires_at,
      case when e.status = 'scheduled' then e.due_at end
    from ended as e
    where e.final_status in ('scheduled', 'open', 'partially_filled')
    order by e.place
  )
  insert into trading.idempotency_keys as k (user_id, key, order_id, created_at)
  select e.user_id, e.idempotency_key, e.id, batch.at
  from ended as e
  where e.idempotency_key is not null
  on conflict (user_id, key) do update
  set order_id = excluded.order_id, created_at = excluded.created_at;
end
$$;

comment on function trading.write_orders(trading.matched_batch, trading.written_batch) is
  'Writes the orders that a batch accepted, what of them rests or waits for its release, and which '
  'orders their idempotency keys stand for. A key older than 24 hours is taken over.';
