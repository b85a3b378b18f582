create or replace function api.preview_order("order" jsonb)
returns api.result
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_before bigint;
  v_result api.result;
  v_error core.error_codes;
  v_body jsonb;
  v_side text := preview_order."order" ->> 'side';
  v_fills json;
  v_quantity bigint;
  v_cents bigint;
  v_fee bigint;
  v_sign int := case preview_order."order" ->> 'orderType' when 'sell' then -1 else 1 end;
begin
  select a.balance_cents into v_before
  from identity.users as u
  join ledger.accounts as a on a.user_id = u.id
  where u.public_id = (preview_order."order" ->> 'userId')::uuid;
  begin
    select r.* into v_result
    from api.place_orders(
      orders => jsonb_build_array(preview_order."order" - 'idempotencyKey')
    ) as r;
    raise exception using errcode = 'EX999';
  exception when sqlstate 'EX999' then
    null;
  end;
  if v_result.code in ('CONFLICT_RETRY', 'UNAUTHORIZED') then
    return v_result;
  end if;
  if v_result.code is not null then
    select e.* into strict v_error from core.error_codes as e where e.code = v_result.code;
    v_result := row(null, null, false, json_build_object(
      'status', 'rejected', 'fills', '[]'::json, 'filledQuantity', 0, 'averagePrice', null,
      'costCents', 0, 'feeCents', 0, 'restingQuantity', 0, 'balanceAfter', v_before,
      'rejection', json_build_object(
        'status', v_error.http_status,
        'error', coalesce(v_result.message, v_error.message),
        'code', v_error.code
      )
    )::text)::api.result;
    return v_result;
  end if;
  v_body := v_result.body::jsonb;
  v_fee := (v_body ->> 'feeCents')::bigint;
  select
    coalesce(
      json_agg(json_build_object('price', f -> 'price', 'quantity', f -> 'quantity')), '[]'
    ),
    coalesce(sum((f ->> 'quantity')::bigint), 0),
    sum(
      case v_side when 'yes' then (f ->> 'price')::bigint else 100 - (f ->> 'price')::bigint end
      * (f ->> 'quantity')::bigint
    )
  into v_fills, v_quantity, v_cents
  from jsonb_array_elements(v_body -> 'fills') as f;
  v_result.body := json_build_object(
    'status', v_body -> 'order' -> 'status',
    'fills', v_fills,
    'filledQuantity', v_quantity,
    'averagePrice', round(v_cents::numeric / nullif(v_quantity, 0), 4),
    'costCents', v_sign * coalesce(v_cents, 0),
    'feeCents', v_fee,
    'restingQuantity', case
      when v_body -> 'order' ->> 'status' in ('open', 'partially_filled')
        then (v_body -> 'order' ->> 'quantity')::bigint - v_quantity
      else 0
    end,
    'balanceAfter', v_body -> 'balance' -> 'total',
    'rejection', null
  )::text;
  return v_result;
end
$$;

comment on function api.preview_order(jsonb) is
  'The body of POST /orders/preview: what an order would do now. It changes nothing.';
