create or replace function trading.stop_user_orders(
  user_id bigint, market_ids bigint[], reason trading.cancel_reason, at timestamptz
)
returns int
language plpgsql
as $$
declare
  c_most_at_once constant int := 1000;
  v_stopped_until constant bigint := coalesce((
    select max(s.last_order_id)
    from (
      select x.last_order_id
      from trading.order_stops as x
      where x.user_id = stop_user_orders.user_id
      union all
      select x.last_order_id
      from trading.dead_man_switches as x
      where x.user_id = stop_user_orders.user_id
    ) as s
  ), 0);
  v_order_ids constant bigint[] := array(
    select b.order_id
    from trading.active_orders as b
    where b.user_id = stop_user_orders.user_id
      and b.market_id = any (stop_user_orders.market_ids)
      and b.order_id > v_stopped_until
    order by b.order_id
    limit c_most_at_once
  );
  v_cancelled int;
  v_last_order_id bigint;
  v_left int;
begin
  -- A switch that has expired and not fired yet stops none of them.
  update trading.dead_man_switches as s set
    expires_at = null,
    last_fired_at = s.expires_at
  where s.user_id = stop_user_orders.user_id
    and s.fired_at is null
    and s.expires_at <= stop_user_orders.at;
  v_cancelled := trading.end_orders(v_order_ids, stop_user_orders.reason, stop_user_orders.at);
  select max(b.order_id), count(*) filter (where b.expires_at is null or b.expires_at > at)
  into v_last_order_id, v_left
  from trading.active_orders as b
  where b.user_id = stop_user_orders.user_id
    and b.order_id > v_stopped_until;
  if v_last_order_id is not null then
    insert into trading.order_stops (user_id, last_order_id, reason, stopped_at)
    values (
      stop_user_orders.user_id, v_last_order_id, stop_user_orders.reason, stop_user_orders.at
    );
  end if;
  return v_cancelled + v_left;
end
$$;

comment on function trading.stop_user_orders(
  bigint, bigint[], trading.cancel_reason, timestamptz
) is
  'Ends the open orders of a user, resting and scheduled ones, for one reason; returns how many. '
  'In the markets given 1,000 end at once; those past their expiry expire. The others are stopped: '
  'they trade no more, and a worker cancels them in small steps, so that a user with many orders '
  'keeps no market locked. Those that are stopped already, also by a dead man''s switch that '
  'fires, are left to that, and not counted; one that has expired and not fired yet is over. The '
  'caller holds the locks of the user and of the markets. Locks: the switch, if it has expired.';
