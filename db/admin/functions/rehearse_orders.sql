create or replace function admin.rehearse_orders(
  market_id uuid, user_id uuid, variadic orders jsonb[]
)
returns uuid
language plpgsql
as $$
declare
  v_orders jsonb;
  v_body jsonb;
begin
  select jsonb_agg(
    jsonb_build_object(
      'marketId', rehearse_orders.market_id, 'userId', rehearse_orders.user_id, 'quantity', 10
    ) || o
    order by i
  )
  into v_orders
  from unnest(rehearse_orders.orders) with ordinality as x (o, i);
  select p.body::jsonb into v_body
  from api.run_orders(v_orders) as p
  limit 1;
  return (v_body -> 'order' ->> 'id')::uuid;
end
$$;

comment on function admin.rehearse_orders(uuid, uuid, jsonb[]) is
  'Places orders of a rehearsal in one batch, of 10 shares unless they say otherwise; the id of '
  'the first, null if it was rejected. Private to the schema.';
