create or replace function trading.order_answers(
  context trading.market_context, result trading.match_result
)
returns setof api.outcome
language plpgsql stable
set search_path = ''
as $$
declare
  v_at text := core.iso8601(context.at);
begin
  return query
  select
    o.code,
    o.message,
    o.is_replay is not null,
    case
      when o.code is not null then null
      when o.is_replay then trading.replay_answer(result.outcomes[o.ordinality])
      else json_build_object(
        'order', json_build_object(
          'id', o.order_public_id,
          'userId', o.user_public_id,
          'marketId', context.market_public_id,
          'side', (o.request).side,
          'price', (o.request).price,
          'quantity', o.quantity,
          'filledQuantity', o.filled_quantity,
          'status', o.status,
          'orderType', (o.request).order_type,
          'timeInForce', (o.request).time_in_force,
          'cancelReason', o.cancel_reason,
          'expiresAt', core.iso8601((o.request).expires_at),
          'createdAt', v_at
        ),
        'fills', coalesce(f.fills, '[]'),
        'cancelledOrders', coalesce(d.orders, '[]'),
        'balance', json_build_object('total', o.balance_cents, 'available', o.balance_cents),
        'feeCents', o.fee_cents
      )
    end
  from unnest(result.outcomes) with ordinality as o
  left join (
    select
      u.request,
      json_agg(
        trading.fill_object(
          u.trade_public_id, context.market_public_id, u.taker_side, u.taker_order_public_id,
          u.maker_order_public_id, u.taker_user_public_id, u.maker_user_public_id, u.yes_price,
          u.quantity, context.at
        )
        order by u.trade_id
      ) as fills
    from unnest(result.fills) as u
    group by u.request
  ) as f on f.request = o.ordinality
  left join (
    select
      u.request,
      json_agg(
        trading.order_object(
          (u."order").order_public_id, u.user_public_id, context.market_public_id,
          (u."order").side, (u."order").price, (u."order").quantity, u.filled_quantity,
          'cancelled', (u."order").order_type, 'gtc', u.reason, (u."order").expires_at,
          (u."order").created_at
        )
        order by u.ordinality
      ) as orders
    from unnest(result.dead_makers) with ordinality as u
    group by u.request
  ) as d on d.request = o.ordinality
  order by o.ordinality;
end
$$;

comment on function trading.order_answers(trading.market_context, trading.match_result) is
  'The answers to a batch, in the order of its requests: a refusal, or the documented body of '
  'POST /orders.';
