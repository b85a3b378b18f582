create or replace function api.preview_order("order" jsonb)
returns core.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
--!include planner/plain_nested_loops.sql
as $$
declare
  v_at constant timestamptz := core.now();
  r trading.requests := trading.read_requests(
    jsonb_build_array(preview_order."order" - 'idempotencyKey')
  );
  v_batch trading.batch;
  o trading.results;
  k trading.makers;
  f trading.fills;
  v_rejection core.error_codes;
begin
  v_batch := trading.match_batch(r, v_at, locks => 'none');
  o := v_batch.results;
  k := v_batch.makers;
  f := v_batch.fills;
  if o.code[1] = 'UNAUTHORIZED' then
    return (o.code[1], null, false, null)::core.result;
  end if;
  select e.* into v_rejection
  from core.error_codes as e
  where e.code = o.code[1];

  return (
    select (
      null, null, false,
      json_build_object(
        'status', coalesce(o.status[1]::text, 'rejected'),
        'fills', coalesce(x.fills, '[]'),
        'filledQuantity', x.quantity,
        'averagePrice', round(abs(x.cost_cents) / nullif(x.quantity, 0)::numeric, 4),
        'costCents', x.cost_cents,
        'feeCents', x.fee_cents,
        'restingQuantity', case
          when o.status[1] in ('open', 'partially_filled') then o.left_quantity[1] else 0
        end,
        'balanceAfter', coalesce(
          o.balance_cents[1], (v_batch.traders).balances_cents[v_batch.trader_place[1]]
        ),
        'rejection', case when o.code[1] is not null then json_build_object(
          'status', v_rejection.http_status,
          'error', coalesce(
            trading.rejection_message(o.code[1], r.problem[1]), v_rejection.message
          ),
          'code', v_rejection.code
        ) end
      )::text
    )::core.result
    from (
      select
        json_agg(
          json_build_object(
            'price', case when r.is_yes[1] then 100 - m.price else m.price end,
            'quantity', f.quantity[p]
          )
          order by p
        ) as fills,
        coalesce(sum(f.quantity[p]), 0) as quantity,
        coalesce(-sum(f.moved_cents[2 * p - 1] + f.fee_cents[p]), 0) as cost_cents,
        coalesce(sum(f.fee_cents[p]), 0) as fee_cents
      from generate_subscripts(f.request_place, 1) as p
      cross join lateral (select k.book_price[f.maker_place[p]] offset 0) as m (price)
    ) as x
  );
end
$$;

comment on function api.preview_order(jsonb) is
  'What an order would do if it were placed now, by the engine''s own matching: a JSON object of '
  'status, fills, filledQuantity, averagePrice (of the order''s own side), costCents, feeCents, '
  'restingQuantity, balanceAfter and rejection ({status, error, code} or null). The order is an '
  'element of api.place_orders; its idempotencyKey is ignored. Changes nothing and locks nothing. '
  'Only an unknown user (UNAUTHORIZED) is a code of the result itself.';
