create or replace function trading.cancel_own_orders(
  order_ids bigint[], at timestamptz, announced boolean default false
)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ending record;
  v_count int;
  v_cancelled int := 0;
begin
  for v_ending in
    select s.reason as stop_reason, array_agg(b.order_id) as order_ids
    from trading.active_orders as b
    left join lateral trading.stop_of(b.user_id, b.order_id, cancel_own_orders.at) as s on true
    where b.order_id = any (cancel_own_orders.order_ids)
    group by s.reason
  loop
    v_count := trading.cancel_active_orders(
      v_ending.order_ids, coalesce(v_ending.stop_reason, 'user_cancelled'), cancel_own_orders.at,
      expires => true,
      announced => cancel_own_orders.announced or v_ending.stop_reason is not null
    );
    -- What stopped the others has counted them.
    if v_ending.stop_reason is null then
      v_cancelled := v_cancelled + v_count;
    end if;
  end loop;
  return v_cancelled;
end
$$;

comment on function trading.cancel_own_orders(bigint[], timestamptz, boolean) is
  'Cancels open orders of a user (user_cancelled); returns how many. Those past their expiry '
  'expire instead, and those that are stopped end for the reason of that: these have events, and '
  'are not counted. announced: the others have events too, since the user did not ask for it. The '
  'caller holds the locks of the markets.';
