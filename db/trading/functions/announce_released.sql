create or replace function trading.announce_released(
  batch trading.matched_batch, orders trading.placed_order[]
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into trading.outbox (channel, payload)
  select
    'user_event',
    json_build_object(
      'userId', (x.placed).user_public_id,
      'event', json_build_object(
        'type', 'order_released',
        'orderId', (x.request).order_public_id,
        'marketId', (x.placed).market_public_id,
        'status', coalesce((x.placed).status, 'cancelled'),
        'side', (x.request).side,
        'price', (x.request).price,
        'quantity', coalesce((x.placed).quantity, (x.request).quantity, 0),
        'filledQuantity', coalesce((x.placed).quantity - (x.placed).left_quantity, 0),
        'cancelReason', coalesce(
          (x.placed).cancel_reason,
          trading.release_reason((x.placed).code, (x.request).order_type)
        ),
        'fills', (
          select count(*) from unnest((batch.result).fills) as f where f.request = i
        ),
        'balance', (x.placed).balance_cents,
        'feeCents', (x.placed).fee_cents
      )
    )
  from generate_subscripts(batch.requests, 1) as i
  cross join lateral (
    select batch.requests[i] as request, announce_released.orders[i] as placed
    offset 0 -- each element is looked up once
  ) as x
  where (x.placed).code is distinct from 'CONFLICT_RETRY' -- mutant: release_told_twice
  order by i;
end
$$;

comment on function trading.announce_released(trading.matched_batch, trading.placed_order[]) is
  'Writes an order_released event for each scheduled order that was released, as it stood right '
  'after its own matching. Balance and fee are null for those that were rejected.';
