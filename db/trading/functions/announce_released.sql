create or replace function trading.announce_released(batch trading.matched_batch)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into trading.outbox (channel, payload)
  select
    'user_event',
    json_build_object(
      'userId', t.public_id,
      'event', json_build_object(
        'type', 'order_released',
        'orderId', (x.request).order_public_id,
        'marketId', (x.market).public_id,
        'status', coalesce((x.result).status, 'cancelled'),
        'side', (x.request).side,
        'price', (x.request).price,
        'quantity', coalesce((x.result).quantity, (x.request).quantity, 0),
        'filledQuantity', coalesce((x.result).quantity - (x.result).left_quantity, 0),
        'cancelReason', coalesce(
          (x.result).cancel_reason,
          trading.release_reason((x.result).code, (x.request).order_type)
        ),
        'fills', (
          select count(*) from unnest((batch.result).fills) as f where f.request = i
        ),
        'balance', (x.result).balance_cents,
        'feeCents', (x.result).fee_cents
      )
    )
  from generate_subscripts(batch.requests, 1) as i
  cross join lateral (
    select
      batch.requests[i] as request,
      (batch.result).results[i] as result,
      batch.markets[(batch.requests[i]).market] as market
    offset 0 -- each element is looked up once
  ) as x
  join trading.traders as t on t.user_id = (x.request).user_id
  where (x.result).code is distinct from 'CONFLICT_RETRY'
  order by i;
end
$$;

comment on function trading.announce_released(trading.matched_batch) is
  'Tells the users what their scheduled orders became at their release (order_released): as they '
  'stood right after their own matching. Balance and fee are null for those that were refused.';
