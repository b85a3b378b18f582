create or replace function trading.write_events(batch trading.batch)
returns void
language plpgsql
as $$
declare
  r constant trading.requests := batch.requests;
  o constant trading.results := batch.results;
  f constant trading.fills := batch.fills;
  k constant trading.makers := batch.makers;
  m_id constant bigint[] := (batch.markets).id;
  m_public_id constant uuid[] := (batch.markets).public_id;
  m_version constant bigint[] := (batch.markets).version;
  t_public_id constant uuid[] := (batch.traders).public_ids;
  t_user_id constant bigint[] := (batch.traders).user_ids;
  c constant trading.cancelled_makers := batch.cancelled;
begin
  if r.order_id is not null or o.release_at is not null then
    insert into trading.outbox (channel, user_id, payload)
    select
      'user_event',
      r.user_id[i],
      json_build_object(
        'userId', t_public_id[batch.trader_place[i]],
        'event', case when r.order_id is not null
          then json_build_object(
            'type', 'order_released',
            'orderId', o.public_id[i],
            'marketId', m_public_id[r.market_place[i]],
            'status', o.status[i],
            'side', r.side[i],
            'price', r.price[i],
            'quantity', o.quantity[i],
            'filledQuantity', o.quantity[i] - o.left_quantity[i],
            'cancelReason', o.cancel_reason[i],
            'fills', (select count(*) from unnest(f.request_place) as p (i) where p.i = x.i),
            'balance', o.balance_cents[i],
            'feeCents', o.fee_cents[i]
          )
          else json_build_object(
            'type', 'order_pending',
            'orderId', o.public_id[i],
            'marketId', m_public_id[r.market_place[i]],
            'side', r.side[i],
            'price', r.price[i],
            'quantity', o.quantity[i],
            'releaseAt', core.iso8601(o.release_at[i]),
            'budgetCents', r.budget_cents[i]
          )
        end
      )
    from generate_subscripts(o.order_id, 1) as x (i)
    where o.order_id[i] is not null
      and (r.order_id is not null or o.release_at[i] is not null)
    order by i;
  end if;

  -- One event for all markets: each row costs the call, the relay and the readers.
  insert into trading.outbox (channel, payload, trade_ids, traded_at)
  select
    'market_changed',
    concat(
      '[',
      string_agg(
        trading.market_change_object(m_public_id[g], m_version[g] + batch.changes[g]), ','
        order by g
      ),
      ']'
    )::json,
    f.trade_id, case when f.trade_id is not null then batch.at end
  from generate_subscripts(m_id, 1) as g
  where batch.changes[g] > 0
  having count(*) > 0;

  if f.trade_id is not null then
    insert into trading.outbox (channel, user_id, payload)
    select
      'user_event',
      t_user_id[e.trader_place],
      trading.maker_fill_object(
        t_public_id[e.trader_place], m_public_id[r.market_place[e.i]], e.order_ids, e.fill_count
      )::json
    from (
      select
        x.i, x.trader_place, min(x.p) as first_place,
        string_agg(x.order_public_id::text, '","' order by x.p) as order_ids, count(*) as fill_count
      from (
        select
          p, f.request_place[p] as i,
          k.trader_place[f.maker_place[p]] as trader_place,
          k.public_id[f.maker_place[p]] as order_public_id
        from generate_subscripts(f.request_place, 1) as p
      ) as x
      group by x.i, x.trader_place
      order by min(x.p)
    ) as e;
  end if;

  if c.request_place is not null then
    perform trading.announce_cancelled(array(
      select k.order_id[c.maker_place[p]] from generate_subscripts(c.request_place, 1) as p
      order by p
    ));
  end if;
end
$$;

comment on function trading.write_events(trading.batch) is
  'Writes the events of a call into the outbox: scheduled orders that it released or that wait; '
  'the markets that changed, with their versions; makers whose orders were filled, one event for '
  'each taker''s order and maker; orders that were cancelled because they could not trade.';
