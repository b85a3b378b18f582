create or replace function trading.announce_orders(
  context trading.market_context, result trading.match_result
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform trading.notify_market(context.market_public_id, b.version)
  from trading.books as b
  where b.market_id = context.market_id;

  if cardinality(result.fills) > 0 then
    perform trading.notify_user(
      (result.traders).user_public_ids[
        array_position((result.traders).user_ids, met.user_id)
      ],
      json_build_object(
        'type', 'maker_fill',
        'marketId', context.market_public_id,
        'orderIds', met.order_ids,
        'fillCount', met.fill_count
      )
    )
    from (
      select
        f.request,
        (result.resting[f.resting]).user_id,
        json_agg((result.resting[f.resting]).order_public_id order by f.trade_id) as order_ids,
        count(*) as fill_count
      from unnest(result.fills) as f
      group by f.request, (result.resting[f.resting]).user_id
      order by f.request, min(f.trade_id)
    ) as met;
  end if;

  if cardinality(result.dead_makers) > 0 then
    perform trading.notify_user(
      (result.traders).user_public_ids[array_position((result.traders).user_ids, r.user_id)],
      json_build_object(
        'type', 'order_cancelled',
        'orderId', r.order_public_id,
        'marketId', context.market_public_id,
        'marketTitle', m.title,
        'side', r.side,
        'price', r.price,
        'quantity', r.quantity,
        'filledQuantity', d.filled_quantity,
        'cancelReason', d.reason
      )
    )
    from unnest(result.dead_makers) with ordinality as d
    cross join lateral (select (result.resting[d.resting]).*) as r
    join catalog.markets as m on m.id = context.market_id
    order by d.ordinality;
  end if;
end
$$;

comment on function trading.announce_orders(trading.market_context, trading.match_result) is
  'Notifies of a batch: the market once, each maker once for each request that filled it, and the '
  'owner of each order found dead.';
