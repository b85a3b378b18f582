create or replace function trading.read_requests(orders jsonb, codes text[] default null)
returns trading.requests
language plpgsql stable
as $$
declare
  v_requests trading.requests;
  v_market_ids bigint[]; -- of each request
begin
  select
    array_agg(r.market_id), array_agg(r.market_place), array_agg(r.user_id), array_agg(r.side),
    array_agg(r.order_type), array_agg(r.price), array_agg(r.quantity), array_agg(r.budget_cents),
    array_agg(r.time_in_force), array_agg(r.post_only), array_agg(r.expires_at),
    array_agg(r.idempotency_key), array_agg(r.request_fingerprint), array_agg(r.cancels_own),
    array_agg(r.is_market), array_agg((r.order_type = 'buy') = (r.side = 'yes')),
    array_agg(case r.order_type when 'buy' then r.price else 100 - r.price end),
    array_agg(r.problem)
  into
    v_market_ids, v_requests.market_place, v_requests.user_id, v_requests.side,
    v_requests.order_type, v_requests.price, v_requests.quantity, v_requests.budget_cents,
    v_requests.time_in_force, v_requests.post_only, v_requests.expires_at,
    v_requests.idempotency_key, v_requests.request_fingerprint, v_requests.cancels_own,
    v_requests.is_market, v_requests.is_yes, v_requests.book_price, v_requests.problem
  from (
    select
      m.id as market_id,
      t.user_id,
      q.side,
      v.order_type,
      v.price,
      q.price is null as is_market,
      q.quantity,
      q."budgetCents" as budget_cents,
      v.time_in_force,
      v.post_only,
      q."expiresAt" as expires_at,
      q."idempotencyKey" as idempotency_key,
      q."requestFingerprint" as request_fingerprint,
      q."selfTrade" is not distinct from 'cancel_resting' as cancels_own,
      trading.request_problem(
        q.side, v.price, q.quantity, q."budgetCents", v.order_type, v.time_in_force, v.post_only,
        q."selfTrade"
      ) as problem,
      (dense_rank() over (order by m.id))::int as market_place
    from jsonb_populate_recordset(null::trading.order_request, read_requests.orders)
      with ordinality as q
    cross join lateral (
      select
        coalesce(q."orderType", 'buy'),
        coalesce(q.price, case when q."orderType" = 'sell' then 1 else 99 end),
        case
          when (q.price is null or q."budgetCents" is not null)
            and q."timeInForce" is distinct from 'fok' then 'ioc'
          else coalesce(q."timeInForce", 'gtc')
        end::trading.time_in_force,
        coalesce(q."postOnly", false)
    ) as v (order_type, price, time_in_force, post_only)
    left join lateral (
      select x.id from catalog.markets as x where x.public_id = q."marketId" limit 1
    ) as m on read_requests.codes[q.ordinality] is null
    left join lateral (
      select x.user_id from trading.traders as x where x.public_id = q."userId" limit 1
    ) as t on read_requests.codes[q.ordinality] is null
    order by q.ordinality
  ) as r;
  v_requests.market_ids := array(
    select distinct u.id from unnest(v_market_ids) as u (id) order by u.id
  );
  v_requests.code := coalesce(
    read_requests.codes, array_fill(null::text, array[coalesce(cardinality(v_requests.user_id), 0)])
  );
  return v_requests;
end
$$;

comment on function trading.read_requests(jsonb, text[]) is
  'Orders as a caller gives them, an array of {marketId, userId, side, price, quantity, '
  'budgetCents, orderType, timeInForce, selfTrade, idempotencyKey, requestFingerprint, '
  'expiresAt, postOnly}, made ready. An unknown market or user is null. codes: those of orders '
  'that are not to be placed; market and user of these are not looked up, so nothing of them is '
  'locked or read.';
