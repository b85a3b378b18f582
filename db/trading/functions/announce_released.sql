create or replace function trading.announce_released(
  context trading.market_context, result trading.match_result
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
      'userId', u.public_id,
      'event', json_build_object(
        'type', 'order_released',
        'orderId', (r.request).order_public_id,
        'marketId', context.market_public_id,
        'status', coalesce(r.status, 'cancelled'),
        'side', (r.request).side,
        'price', (r.request).price,
        'quantity', coalesce(r.quantity, (r.request).quantity, 0),
        'filledQuantity', coalesce(r.filled_quantity, 0),
        'cancelReason', coalesce(
          r.cancel_reason, trading.release_reason(r.code, (r.request).order_type)
        ),
        'fills', coalesce(f.fill_count, 0),
        'balance', r.balance_cents,
        'feeCents', r.fee_cents
      )
    )
  from unnest(result.outcomes) with ordinality as r
  join identity.users as u on u.id = (r.request).user_id
  left join (
    select x.request, count(*) as fill_count
    from unnest(result.fills) as x
    group by x.request
  ) as f on f.request = r.ordinality
  where r.code is distinct from 'CONFLICT_RETRY'
  order by r.ordinality;
end
$$;

comment on function trading.announce_released(trading.market_context, trading.match_result) is
  'Tells the users what their scheduled orders became at their release (order_released): as they '
  'stood right after their own matching. Balance and fee are null for those that were refused.';
