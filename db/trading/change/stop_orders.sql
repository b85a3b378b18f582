create or replace function trading.stop_orders(
  user_id bigint, market_ids bigint[], reason trading.cancel_reason, at timestamptz
)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  c_most_at_once constant int := 1000;
  v_stopped_until constant bigint := coalesce((
    select s.last_order_id
    from trading.dead_man_switches as s
    where s.user_id = stop_orders.user_id
    for update
  ), 0);
  v_cancelled int;
  v_last_order_id bigint;
  v_left int;
begin
  v_cancelled := trading.clear_orders(
    array(
      select b.order_id
      from trading.active_orders as b
      where b.user_id = stop_orders.user_id
        and b.market_id = any (stop_orders.market_ids)
        and b.order_id > v_stopped_until
      order by b.order_id
      limit c_most_at_once
    ),
    stop_orders.reason,
    stop_orders.at
  );
  select max(b.order_id), count(*) filter (where b.expires_at is null or b.expires_at > at)
  into v_last_order_id, v_left
  from trading.active_orders as b
  where b.user_id = stop_orders.user_id
    and b.order_id > v_stopped_until;
  if v_last_order_id is not null then
    insert into trading.dead_man_switches as s (
      user_id, expires_at, fired_at, last_order_id, stop_reason
    )
    values (
      stop_orders.user_id, stop_orders.at, stop_orders.at, v_last_order_id, stop_orders.reason
    )
    on conflict on constraint dead_man_switches_pkey do update set
      expires_at = excluded.expires_at,
      fired_at = excluded.fired_at,
      last_order_id = excluded.last_order_id,
      stop_reason = excluded.stop_reason;
  end if;
  return v_cancelled + v_left;
end
$$;

comment on function trading.stop_orders(bigint, bigint[], trading.cancel_reason, timestamptz) is
  'Ends the open orders of a user, resting and scheduled ones, for one reason; returns how many. '
  'In the markets given 1,000 end at once, as by trading.clear_orders. The others are stopped as '
  'by a dead man''s switch that fires: they trade no more, and a worker cancels them in small '
  'steps, so that a user with many orders keeps no market locked. Those that such a switch has '
  'stopped before are left to it, and not counted. The caller holds the locks of '
  'the markets and of the user. Locks: the switch of the user.';
