create or replace function trading.replay_answer(
  outcome trading.order_result, at timestamptz
)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format(
    '{"order":%s,"fills":%s,"cancelledOrders":[],"balance":%s,"feeCents":null}',
    trading.order_object(
      o.public_id,
      (replay_answer.outcome).user_public_id,
      m.public_id,
      o.side,
      o.price,
      coalesce((replay_answer.outcome).quantity, o.quantity),
      coalesce((replay_answer.outcome).filled_quantity, o.filled_quantity),
      coalesce((replay_answer.outcome).status, o.status),
      o.order_type,
      o.time_in_force,
      case when (replay_answer.outcome).status is null then o.cancel_reason
        else (replay_answer.outcome).cancel_reason end,
      o.expires_at,
      core.iso8601(o.created_at),
      case when o.status = 'scheduled'
        then trading.schedule_members(o.release_at, o.budget_cents, replay_answer.at) end
    ),
    trading.fills_of_order(o.id),
    trading.balance_object((replay_answer.outcome).balance_cents)
  )
  from trading.orders as o
  join catalog.markets as m on m.id = o.market_id
  where o.id = (replay_answer.outcome).order_id
$$;

comment on function trading.replay_answer(trading.order_result, timestamptz) is
  'The answer to a request whose idempotency key stands for an order already: the order as it is '
  'now and the fills of its placement.';
