create or replace function trading.order_answers(
  batch trading.matched_batch, written trading.written_batch
)
returns setof api.result
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select
    o.code,
    case when o.code = 'INVALID_REQUEST'
      then coalesce(r.problem, 'expiresAt: must be in the future') end,
    o.replay_of is not null or o.replayed_order_id is not null,
    case
      when o.code is not null then null
      when o.replayed_order_id is not null then trading.replay_answer(
        o.replayed_order_id, o.left_quantity, o.cancel_reason, o.balance_cents, batch.at
      )
      when o.replay_of is not null then format(
        '{"order":%s,"fills":[%s],"cancelledOrders":[],"balance":%s,"feeCents":null}',
        x.order_object, coalesce(f.objects, ''), trading.balance_object(o.balance_cents)
      )
      else format(
        '{"order":%s,"fills":[%s],"cancelledOrders":[%s],"balance":%s,"feeCents":%s}',
        x.order_object, coalesce(f.objects, ''), coalesce(c.objects, ''),
        trading.balance_object(o.balance_cents), coalesce(o.fee_cents::text, 'null')
      )
    end
  from unnest(batch.requests) with ordinality as r (
    market, market_id, user_id, side, order_type, price, quantity, budget_cents,
    time_in_force, post_only, expires_at, idempotency_key, book_side, book_price, problem,
    is_market, relieved_cents, order_id, order_public_id, created_at, place
  )
  join unnest((batch.result).results) with ordinality as o (
    code, replay_of, replayed_order_id, status, quantity, left_quantity, cancel_reason,
    fee_cents, balance_cents, maker, place
  ) on o.place = r.place
  cross join lateral (
    select
      (batch.markets[r.market]).public_id, (batch.markets[r.market]).live_delay_ms,
      coalesce(o.replay_of, r.place)::int as owner
    offset 0
  ) as m
  left join lateral (
    select trading.order_object(
      written.order_public_ids[m.owner],
      (batch.traders).public_ids[(batch.request_arrays).traders[r.place]],
      m.public_id, w.side, w.price, o.quantity, o.quantity - o.left_quantity, o.status,
      w.order_type, w.time_in_force, o.cancel_reason, w.expires_at, core.iso8601(batch.at),
      case when o.status = 'scheduled' then trading.schedule_members(
        batch.at + m.live_delay_ms * interval '1 millisecond', w.budget_cents, batch.at
      ) end
    ) as order_object
    from (select (batch.requests[m.owner]).*) as w
    where o.code is null
  ) as x on true
  left join (
    select u.request, string_agg(
      trading.fill_object(
        t.public_id, n.public_id, t.taker_side, written.order_public_ids[u.request],
        trading.maker_public_id(batch, written, u.maker),
        (batch.traders).public_ids[width_bucket(t.taker_user_id, (batch.traders).user_ids)],
        (batch.traders).public_ids[width_bucket(t.maker_user_id, (batch.traders).user_ids)],
        t.price, t.quantity, core.iso8601(batch.at)
      ),
      ','
      order by u.place
    ) as objects
    from unnest((batch.result).fills) with ordinality as u (
      request, maker, quantity, fee_cents, place
    )
    cross join lateral (select (written.trades[u.place]).* offset 0) as t
    cross join lateral (
      select (batch.markets[(batch.request_arrays).markets[u.request]]).public_id offset 0
    ) as n
    group by u.request
  ) as f on f.request = m.owner
  left join (
    select q.request, string_agg(
      trading.order_object(
        w.public_id, (batch.traders).public_ids[
          width_bucket(w.user_id, (batch.traders).user_ids)
        ],
        n.public_id, w.side, w.price, w.quantity, w.quantity - q.left_quantity, 'cancelled',
        w.order_type, 'gtc', q.reason, w.expires_at, core.iso8601(w.created_at), null
      ),
      ','
      order by q.place
    ) as objects
    from unnest((batch.result).cancelled_makers) with ordinality as q (
      request, maker, reason, left_quantity, place
    )
    join trading.cancelled_orders(batch, written) as w on w.maker = q.maker
    cross join lateral (
      select (batch.markets[(batch.request_arrays).markets[q.request]]).public_id offset 0
    ) as n
    group by q.request
  ) as c on c.request = r.place
  order by r.place
$$;

comment on function trading.order_answers(trading.matched_batch, trading.written_batch) is
  'The answers to a batch, in the order of its requests: a rejection, or the documented body of '
  'POST /orders.';
