create or replace function trading.cancel_open_orders(
  order_ids bigint[],
  reason trading.cancel_reason,
  at timestamptz,
  expires boolean,
  announced boolean
)
returns int
language plpgsql
as $$
declare
  v_ending record;
  v_count int;
  v_cancelled int := 0;
begin
  for v_ending in
    select s.reason as stop_reason, array_agg(b.order_id) as order_ids
    from trading.active_orders as b
    left join lateral trading.stop_of(b.user_id, b.order_id, cancel_open_orders.at) as s on true
    where b.order_id = any (cancel_open_orders.order_ids)
    group by s.reason
  loop
    v_count := trading.cancel_active_orders(
      v_ending.order_ids, coalesce(v_ending.stop_reason, cancel_open_orders.reason),
      cancel_open_orders.at,
      expires => cancel_open_orders.expires,
      announced => cancel_open_orders.announced or v_ending.stop_reason is not null
    );
    -- What stopped the others has counted them.
    if v_ending.stop_reason is null then
      v_cancelled := v_cancelled + v_count;
    end if;
  end loop;
  return v_cancelled;
end
$$;

comment on function trading.cancel_open_orders(
  bigint[], trading.cancel_reason, timestamptz, boolean, boolean
) is
  'Cancels open orders for a reason, as trading.cancel_active_orders does; returns how many. Those '
  'that are stopped end for the reason of that: they have events in any case, and are not counted. '
  'The caller holds the locks of the markets.';
