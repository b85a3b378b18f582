create or replace function trading.write_outbox(
  batch trading.matched_batch, written trading.written_batch
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if written.trades is not null then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', f.user_public_id,
        'event', json_build_object(
          'type', 'maker_fill',
          'marketId', f.market_public_id,
          'orderIds', f.order_ids,
          'fillCount', f.fill_count
        )
      )
    from (
      select
        (batch.traders).public_ids[
          width_bucket(t.maker_user_id, (batch.traders).user_ids)
        ] as user_public_id,
        (batch.markets[(batch.request_arrays).markets[u.request]]).public_id as market_public_id,
        json_agg(k.public_id order by u.place) as order_ids,
        count(*) as fill_count
      from unnest((batch.result).fills) with ordinality as u (
        request, maker, quantity, fee_cents, place
      )
      cross join lateral (select written.trades[u.place] as trade offset 0) as x
      cross join lateral (select (x.trade).maker_user_id) as t
      cross join lateral (
        select trading.maker_public_id(batch, written, u.maker) as public_id offset 0
      ) as k
      group by u.request, t.maker_user_id
      order by min(u.place)
    ) as f;
  end if;

  if (batch.result).cancelled_makers is not null then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', (batch.traders).public_ids[
          width_bucket(o.user_id, (batch.traders).user_ids)
        ],
        'event', json_build_object(
          'type', 'order_cancelled',
          'orderId', o.public_id,
          'marketId', m.public_id,
          'marketTitle', m.title,
          'side', o.side,
          'price', o.price,
          'quantity', o.quantity,
          'filledQuantity', o.quantity - c.left_quantity,
          'cancelReason', c.reason
        )
      )
    from unnest((batch.result).cancelled_makers) with ordinality as c (
      request, maker, reason, left_quantity, place
    )
    join trading.cancelled_orders(batch, written) as o on o.maker = c.maker
    join catalog.markets as m on m.id = o.market_id
    order by c.place;
  end if;

  if (batch.markets[1]).live_delay_ms is not null or exists (
    select from unnest((batch.result).results) as o where o.status = 'scheduled'
  ) then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', (batch.traders).public_ids[(batch.request_arrays).traders[r.place]],
        'event', json_build_object(
          'type', 'order_pending',
          'orderId', written.order_public_ids[r.place],
          'marketId', m.public_id,
          'side', r.side,
          'price', r.price,
          'quantity', o.quantity,
          'releaseAt', core.iso8601(
            batch.at + m.live_delay_ms * interval '1 millisecond'
          ),
          'budgetCents', r.budget_cents
        )
      )
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
        (batch.markets[r.market]).public_id, (batch.markets[r.market]).live_delay_ms offset 0
    ) as m
    where o.status = 'scheduled'
      and written.order_ids[r.place] is not null
    order by r.place;
  end if;
end
$$;

comment on function trading.write_outbox(trading.matched_batch, trading.written_batch) is
  'Announces a batch to the users it concerns: to each maker once for each request that filled '
  'their orders, to the owner of each cancelled maker, and of each order that a live market took.';
