create or replace function trading.write_outbox(
  batch trading.matched_batch, written trading.written_batch
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  m_public_ids constant uuid[] := (batch.market_arrays).public_ids;
  r_market constant int[] := (batch.request_arrays).markets;
  t_user_ids constant bigint[] := (batch.traders).user_ids;
  t_public_ids constant uuid[] := (batch.traders).public_ids;
begin
  if written.trades is not null then
    insert into trading.outbox (channel, user_id, payload)
    select
      'user_event',
      f.maker_user_id,
      json_build_object(
        'userId', t_public_ids[width_bucket(f.maker_user_id, t_user_ids)],
        'event', json_build_object(
          'type', 'maker_fill',
          'marketId', m_public_ids[r_market[f.request]], -- mutant: maker_told_of_another_market
          'orderIds', f.order_ids,
          'fillCount', f.fill_count
        )
      )
    from (
      select
        u.request, u.maker_user_id, min(u.id) as first_id,
        json_agg(u.order_public_id order by u.id) as order_ids, count(*) as fill_count
      from (
        select y.request, y.maker_user_id, y.id, y.order_public_id
        from rows from (
          unnest((batch.result).fills), unnest(written.maker_public_ids), unnest(written.trades)
        ) as y (
          request, maker, fill_quantity, fill_fee_cents, order_public_id, id, market_id,
          taker_order_id, maker_order_id, taker_user_id, maker_user_id
        )
      ) as u
      group by u.request, u.maker_user_id -- mutant: maker_told_of_each_fill
      order by min(u.id)
    ) as f;
  end if;

  if written.cancelled_orders is not null then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', t_public_ids[width_bucket(c.user_id, t_user_ids)],
        'event', json_build_object(
          'type', 'order_cancelled',
          'orderId', c.public_id,
          'marketId', m.public_id,
          'marketTitle', m.title,
          'side', c.side,
          'price', c.price,
          'quantity', c.quantity,
          'filledQuantity', c.quantity - c.left_quantity,
          'cancelReason', c.reason
        )
      )
    from unnest(written.cancelled_orders) as c
    cross join lateral (
      select y.* from catalog.markets as y where y.id = c.market_id limit 1
    ) as m;
  end if;

  if cardinality(array_remove((batch.market_arrays).live_delays_ms, null)) > 0 then
    insert into trading.outbox (channel, payload)
    select
      'user_event',
      json_build_object(
        'userId', o.user_public_id,
        'event', json_build_object(
          'type', 'order_pending',
          'orderId', o.public_id,
          'marketId', o.market_public_id,
          'side', o.side,
          'price', o.price,
          'quantity', o.quantity,
          'releaseAt', core.iso8601(o.release_at),
          'budgetCents', o.budget_cents
        )
      )
    from unnest(written.orders) as o
    where o.id is not null
      and o.release_at is not null;
  end if;
end
$$;

comment on function trading.write_outbox(trading.matched_batch, trading.written_batch) is
  'Writes the events of a batch for its users: maker_fill for each maker, once for each request '
  'that filled their orders; order_cancelled for the owner of each cancelled maker; order_pending '
  'for each order that a live market took.';
