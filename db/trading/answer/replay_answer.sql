create or replace function trading.replay_answer(
  order_id bigint,
  left_quantity int,
  cancel_reason trading.cancel_reason,
  balance_cents bigint,
  at timestamptz
)
returns trading.order_answer
language plpgsql stable
as $$
begin
  return (
    select (
      null,
      null,
      true,
      trading.order_body(
        trading.order_object(
          o.public_id,
          u.public_id,
          m.public_id,
          o.side,
          o.price,
          o.quantity,
          coalesce(o.quantity - replay_answer.left_quantity, o.filled_quantity),
          case
            when replay_answer.cancel_reason is not null then 'cancelled'
            when replay_answer.left_quantity is not null
              then trading.filled_status(replay_answer.left_quantity, o.quantity)
            else o.status
          end,
          o.order_type,
          o.time_in_force,
          case when replay_answer.left_quantity is null then o.cancel_reason
            else replay_answer.cancel_reason end,
          o.expires_at,
          core.iso8601(o.created_at),
          case when o.status = 'scheduled'
            then trading.schedule_members(o.release_at, o.budget_cents, replay_answer.at) end
        ),
        trading.fills_of_order(o.id), null, replay_answer.balance_cents, null
      ),
      s.version
    )::trading.order_answer
    from trading.orders as o
    join catalog.markets as m on m.id = o.market_id
    join trading.market_state as s on s.market_id = o.market_id
    join trading.traders as u on u.user_id = o.user_id
    where o.id = replay_answer.order_id
  );
end
$$;

comment on function trading.replay_answer(
  bigint, int, trading.cancel_reason, bigint, timestamptz
) is
  'The answer to a request whose idempotency key stands for an order, from before or of the same '
  'call: the order as it is now, the fills of its placement, and the version of its market, which '
  'may be another one than the request names. left_quantity and cancel_reason are of an order '
  'that the call moves, as it stood when the request came; null: as its row says.';
