-- A batch of one is planned by expressions alone: a query would take ten times as long.
create or replace function trading.plan_reading(
  markets trading.market_context[], requests trading.order_request[]
)
returns trading.reading_plan
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan trading.reading_plan;
  v_market trading.market_context;
  v_request trading.order_request;
begin
  if cardinality(plan_reading.requests) = 1 and cardinality(plan_reading.markets) = 1 then
    v_market := plan_reading.markets[1];
    v_request := plan_reading.requests[1];
    return (
      (
        array[v_market.market_id], array[v_market.public_id], array[v_market.live_delay_ms],
        array[v_market.taker_rate_bps], array[v_market.fee_schedule_id]
      )::trading.market_arrays,
      case when v_request.user_id is null then '{}' else array[v_request.user_id] end,
      array[v_request.quantity],
      v_request.idempotency_key is not null,
      v_request.order_type = 'sell',
      trading.is_large(v_request.quantity),
      trading.meets_makers(v_request, v_market),
      true
    )::trading.reading_plan;
  end if;

  select (
    array_agg(c.market_id), array_agg(c.public_id), array_agg(c.live_delay_ms),
    array_agg(c.taker_rate_bps), array_agg(c.fee_schedule_id)
  )::trading.market_arrays
  into v_plan.market_arrays
  from unnest(plan_reading.markets) as c;
  select
    coalesce(array_agg(r.user_id) filter (where r.user_id is not null), '{}'),
    array_agg(r.quantity),
    bool_or(r.idempotency_key is not null),
    bool_or(r.order_type = 'sell'),
    bool_or(trading.is_large(r.quantity)),
    bool_or(trading.meets_makers(r, m.context))
  into
    v_plan.user_ids, v_plan.quantities, v_plan.has_keys, v_plan.may_sell, v_plan.is_large,
    v_plan.meets_makers
  from unnest(plan_reading.requests) as r
  cross join lateral (select plan_reading.markets[r.market] as context offset 0) as m;
  v_plan.is_single := false;
  return v_plan;
end
$$;

comment on function trading.plan_reading(
  trading.market_context[], trading.order_request[]
) is
  'What a batch has to read before it can be matched.';
