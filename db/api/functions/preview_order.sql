create or replace function api.preview_order("order" jsonb)
returns api.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set enable_memoize = off
as $$
declare
  v_at constant timestamptz := core.now();
  v_request trading.order_request;
  v_batch trading.matched_batch;
  v_result trading.order_result;
  v_rejection core.error_codes;
  v_body json;
begin
  select r.* into strict v_request
  from trading.read_requests(
    jsonb_build_array(preview_order."order" - 'idempotencyKey')
  ) as r;
  v_batch := trading.match_batch(
    trading.read_markets(array[v_request.market_id], v_at), array[v_request], v_at, false
  );
  v_result := (v_batch.result).results[1];
  if v_result.code in ('UNAUTHORIZED', 'CONFLICT_RETRY') then
    return (v_result.code, null, false, null)::api.result;
  end if;
  select e.* into v_rejection
  from core.error_codes as e
  where e.code = v_result.code;

  select json_build_object(
    'status', coalesce(v_result.status::text, 'rejected'),
    'fills', coalesce(f.fills, '[]'),
    'filledQuantity', f.quantity,
    'averagePrice', round(f.cents / nullif(f.quantity, 0)::numeric, 4),
    'costCents', case v_request.order_type when 'buy' then f.cents else -f.cents end,
    'feeCents', f.fee_cents,
    'restingQuantity', case
      when v_result.status in ('open', 'partially_filled') then v_result.left_quantity
      else 0
    end,
    'balanceAfter', coalesce(
      v_result.balance_cents,
      (v_batch.traders).balances_cents[(v_batch.request_arrays).traders[1]]
    ),
    'rejection', case when v_result.code is not null then json_build_object(
      'status', v_rejection.http_status,
      'error', coalesce(
        trading.rejection_message(v_result.code, v_request.problem), v_rejection.message
      ),
      'code', v_rejection.code
    ) end
  )
  into v_body
  from (
    select
      json_agg(
        json_build_object(
          'price', case k.book_side when 'yes' then k.book_price else 100 - k.book_price end,
          'quantity', x.quantity
        )
        order by x.place
      ) as fills,
      coalesce(sum(x.quantity), 0) as quantity,
      coalesce(
        sum(
          x.quantity
          * case v_request.order_type when 'buy' then 100 - k.book_price else k.book_price end
        ),
        0
      ) as cents,
      coalesce(sum(x.fee_cents), 0) as fee_cents
    from unnest((v_batch.result).fills) with ordinality as x (
      request, maker, quantity, fee_cents, place
    )
    cross join lateral (select (v_batch.makers[x.maker]).*) as k
  ) as f;
  return (null, null, false, v_body::text)::api.result;
end
$$;

comment on function api.preview_order(jsonb) is
  'What an order would do if it were placed now, by the engine''s own matching: a JSON object of '
  'status, fills, filledQuantity, averagePrice (of the order''s own side), costCents, feeCents, '
  'restingQuantity, balanceAfter and rejection ({status, error, code} or null). The order is an '
  'element of api.place_orders; its idempotencyKey is ignored. Changes nothing and locks nothing. '
  'Only an unknown user (UNAUTHORIZED) and CONFLICT_RETRY are codes of the result itself.';
