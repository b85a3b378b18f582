create or replace function trading.announce_to_makers(
  context trading.market_context, result trading.match_result
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if result.fills is not null then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', f.maker_user_public_id,
        'event', json_build_object(
          'type', 'maker_fill',
          'marketId', context.market_public_id,
          'orderIds', f.order_ids,
          'fillCount', f.fill_count
        )
      )
    from (
      select
        u.maker_user_public_id,
        json_agg(u.maker_order_public_id order by u.trade_id) as order_ids,
        count(*) as fill_count
      from unnest(result.fills) as u
      group by u.request, u.maker_user_public_id
      order by min(u.trade_id)
    ) as f;
  end if;

  if result.cancelled_makers is not null then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', d.user_public_id,
        'event', json_build_object(
          'type', 'order_cancelled',
          'orderId', (d."order").order_public_id,
          'marketId', context.market_public_id,
          'marketTitle', context.title,
          'side', (d."order").side,
          'price', (d."order").price,
          'quantity', (d."order").quantity,
          'filledQuantity', d.filled_quantity,
          'cancelReason', d.reason
        )
      )
    from unnest(result.cancelled_makers) as d;
  end if;
end
$$;

comment on function trading.announce_to_makers(
  trading.market_context, trading.match_result
) is
  'Announces a batch to the makers it met: to each once for each request that filled it, and to '
  'the owner of each order found dead.';
