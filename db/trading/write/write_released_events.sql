create or replace function trading.write_released_events(batch trading.batch)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  r constant trading.requests := batch.requests;
  o constant trading.results := batch.results;
  f_request constant int[] := (batch.fills).request_place;
  m_public_id constant uuid[] := (batch.markets).public_id;
  t_public_id constant uuid[] := (batch.traders).public_ids;
begin
  insert into trading.outbox (channel, user_id, payload)
  select
    'user_event',
    r.user_id[i],
    json_build_object(
      'userId', t_public_id[batch.trader_place[i]],
      'event', json_build_object(
        'type', 'order_released',
        'orderId', o.public_id[i],
        'marketId', m_public_id[r.market_place[i]],
        'status', o.status[i],
        'side', r.side[i],
        'price', r.price[i],
        'quantity', o.quantity[i],
        'filledQuantity', o.quantity[i] - o.left_quantity[i],
        'cancelReason', o.cancel_reason[i],
        'fills', (select count(*) from unnest(f_request) as p (i) where p.i = x.i),
        'balance', o.balance_cents[i],
        'feeCents', o.fee_cents[i]
      )
    )
  from generate_subscripts(o.order_id, 1) as x (i)
  where o.order_id[i] is not null
  order by i;
end
$$;

comment on function trading.write_released_events(trading.batch) is
  'Writes an order_released event for each scheduled order that a call has released.';
