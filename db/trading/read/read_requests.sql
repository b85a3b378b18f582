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
    array_agg(r.order_type), array_agg(r.limit_price), array_agg(r.quantity),
    array_agg(r."budgetCents"), array_agg(r.time_in_force), array_agg(r.post_only),
    array_agg(r."expiresAt"), array_agg(r."idempotencyKey"), array_agg(r."requestFingerprint"),
    array_agg(r."selfTrade" is not distinct from 'cancel_resting'), array_agg(r.price is null),
    array_agg((r.order_type = 'buy') = (r.side = 'yes')),
    array_agg(case r.order_type when 'buy' then r.limit_price else 100 - r.limit_price end),
    array_agg(
      trading.request_problem(
        r.side, r.limit_price, r.quantity, r."budgetCents", r.order_type, r.time_in_force,
        r.post_only, r."selfTrade"
      )
    )
  into
    v_market_ids, v_requests.market_place, v_requests.user_id, v_requests.side,
    v_requests.order_type, v_requests.price, v_requests.quantity,
    v_requests.budget_cents, v_requests.time_in_force, v_requests.post_only,
    v_requests.expires_at, v_requests.idempotency_key, v_requests.request_fingerprint,
    v_requests.cancels_own, v_requests.is_market, v_requests.is_yes, v_requests.book_price,
    v_requests.problem
  from (
    select
      q.*, v.*, m.id as market_id, t.user_id,
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
    ) as v (order_type, limit_price, time_in_force, post_only)
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
