create or replace function trading.read_requests(orders jsonb)
returns setof trading.order_request
language sql stable
begin atomic
  select
    dense_rank() over (order by r.market_id nulls last)::int,
    r.market_id,
    r.user_id,
    r.side,
    r.order_type,
    r.price,
    r.quantity,
    r.budget_cents,
    r.time_in_force,
    r.post_only,
    r.expires_at,
    r.idempotency_key,
    case
      when r.order_type = 'buy' then r.side
      when r.side = 'yes' then 'no'::trading.side
      else 'yes'::trading.side
    end,
    case when r.order_type = 'buy' then r.price else 100 - r.price end,
    case
      when r.side is null then 'side: required'
      when trading.terms_problem(r.price, r.quantity) is not null
        then trading.terms_problem(r.price, r.quantity)
      when r.budget_cents not between 1 and 1000000
        then 'budgetCents: must be between 1 and 1000000'
      when r.order_type = 'sell' and r.budget_cents is not null
        then 'budgetCents: not for a sell'
      when r.order_type = 'sell' and r.quantity is null then 'quantity: required for a sell'
      when r.quantity is not null and r.budget_cents is not null
        then 'budgetCents: excludes quantity'
      when r.quantity is null and r.budget_cents is null
        then 'quantity: required without budgetCents'
      when r.self_trade not in ('reject', 'cancel_resting')
        then 'selfTrade: must be one of reject, cancel_resting'
      when r.post_only and r.time_in_force <> 'gtc'
        then 'postOnly: needs a price and gtc, and no budgetCents'
    end,
    r.is_market,
    0::bigint,
    null::bigint,
    null::uuid,
    null::timestamptz,
    r.request_fingerprint,
    r.self_trade is not distinct from 'cancel_resting'
  from (
    select
      (select m.id from catalog.markets as m where m.public_id = q."marketId") as market_id,
      (select t.user_id from trading.traders as t where t.public_id = q."userId") as user_id,
      q.ordinality,
      q.side,
      coalesce(q."orderType", 'buy') as order_type,
      coalesce(q.price, case when q."orderType" = 'sell' then 1 else 99 end) as price,
      q.price is null as is_market,
      q.quantity,
      q."budgetCents" as budget_cents,
      case
        when (q.price is null or q."budgetCents" is not null)
          and q."timeInForce" is distinct from 'fok' then 'ioc'
        else coalesce(q."timeInForce", 'gtc')
      end::trading.time_in_force as time_in_force,
      coalesce(q."postOnly", false) as post_only,
      q."expiresAt" as expires_at,
      q."idempotencyKey" as idempotency_key,
      q."requestFingerprint" as request_fingerprint,
      q."selfTrade" as self_trade
    from rows from (
      jsonb_to_recordset(read_requests.orders) as (
        "marketId" uuid,
        "userId" uuid,
        side trading.side,
        price int,
        quantity int,
        "budgetCents" int,
        "orderType" trading.order_type,
        "timeInForce" trading.time_in_force,
        "idempotencyKey" uuid,
        "expiresAt" timestamptz,
        "postOnly" boolean,
        "requestFingerprint" uuid,
        "selfTrade" text
      )
    ) with ordinality as q (
      "marketId", "userId", side, price, quantity, "budgetCents", "orderType", "timeInForce",
      "idempotencyKey", "expiresAt", "postOnly", "requestFingerprint", "selfTrade",
      ordinality
    )
  ) as r
  order by r.ordinality;
end;

comment on function trading.read_requests(jsonb) is
  'The requests of a batch from a JSON array of objects with marketId, userId, side, price, '
  'quantity, budgetCents, orderType, timeInForce, selfTrade (reject or cancel_resting), '
  'idempotencyKey, requestFingerprint (the body of POST /orders and its user), expiresAt, '
  'postOnly, in the order of the array. A value of the wrong type is an error of the whole call; '
  'a value out of bounds becomes the problem of its request.';
