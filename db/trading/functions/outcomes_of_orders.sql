create or replace function trading.outcomes_of_orders(
  context trading.market_context,
  requests trading.order_request[],
  result trading.match_result
)
returns setof api.outcome
language plpgsql stable
set search_path = ''
as $$
declare
  v_at constant text := core.iso8601(context.at);
  v_users constant uuid[] := (result.traders).user_public_ids;
  v_user_ids constant bigint[] := (result.traders).user_ids;
begin
  return query
  select
    o.code,
    o.message,
    coalesce(o.is_replay, false),
    case
      when o.code is not null then null
      when o.is_replay then trading.replay_outcome(
        v_users[array_position(v_user_ids, r.user_id)], result.outcomes[o.ordinality]
      )
      else json_build_object(
        'order', trading.order_object(
          o.order_public_id, v_users[array_position(v_user_ids, r.user_id)],
          context.market_public_id, r.side, r.price, o.quantity, o.filled_quantity, o.status,
          r.order_type, r.time_in_force, o.cancel_reason, r.expires_at, context.at
        ),
        'fills', coalesce(f.fills, '[]'),
        'cancelledOrders', coalesce(d.orders, '[]'),
        'balance', trading.balance_object(o.balance_cents),
        'feeCents', o.fee_cents
      )
    end
  from unnest(outcomes_of_orders.requests) with ordinality as r
  join unnest(result.outcomes) with ordinality as o on o.ordinality = r.ordinality
  left join (
    select
      f.request,
      json_agg(
        json_build_object(
          'id', f.trade_public_id,
          'marketId', context.market_public_id,
          'buyOrderId', case f.taker_side when 'yes' then p.taker_order else p.maker_order end,
          'sellOrderId', case f.taker_side when 'yes' then p.maker_order else p.taker_order end,
          'buyerId', case f.taker_side when 'yes' then p.taker else p.maker end,
          'sellerId', case f.taker_side when 'yes' then p.maker else p.taker end,
          'price', f.yes_price,
          'quantity', f.quantity,
          'createdAt', v_at
        )
        order by f.trade_id
      ) as fills
    from unnest(result.fills) as f
    cross join lateral (
      select
        (result.outcomes[f.request]).order_public_id,
        (result.resting[f.resting]).order_public_id,
        v_users[array_position(v_user_ids, (outcomes_of_orders.requests[f.request]).user_id)],
        v_users[array_position(v_user_ids, (result.resting[f.resting]).user_id)]
    ) as p (taker_order, maker_order, taker, maker)
    group by f.request
  ) as f on f.request = r.ordinality
  left join (
    select
      d.request,
      json_agg(
        trading.order_object(
          m.order_public_id, v_users[array_position(v_user_ids, m.user_id)],
          context.market_public_id, m.side, m.price, m.quantity, d.filled_quantity, 'cancelled',
          m.order_type, 'gtc', d.reason, m.expires_at, m.created_at
        )
        order by d.ordinality
      ) as orders
    from unnest(result.dead_makers) with ordinality as d
    cross join lateral (select (result.resting[d.resting]).*) as m
    group by d.request
  ) as d on d.request = r.ordinality
  order by r.ordinality;
end
$$;

comment on function trading.outcomes_of_orders(
  trading.market_context, trading.order_request[], trading.match_result
) is
  'The answers to a batch, in the order of its requests: a refusal, or the documented body of '
  'POST /orders.';
