create or replace function trading.stop_of(
  user_id bigint, order_id bigint, at timestamptz, at_once boolean default false
)
returns table (reason trading.cancel_reason)
language sql stable
begin atomic
  select s.reason
  from (
    select x.last_order_id, x.reason, 1 as place
    from trading.order_stops as x
    where x.user_id = stop_of.user_id
    union all
    select
      case
        when stop_of.at_once then trading.last_stopped_order(x, stop_of.at, grace => '0')
        else trading.last_stopped_order(x, stop_of.at)
      end as last_order_id,
      'user_cancelled'::trading.cancel_reason as reason,
      2 as place
    from trading.dead_man_switches as x
    where x.user_id = stop_of.user_id
    offset 0
  ) as s
  where stop_of.order_id <= s.last_order_id
  order by s.last_order_id, s.place
  limit 1;
end;

comment on function trading.stop_of(bigint, bigint, timestamptz, boolean) is
  'Why an order of a user is stopped: trading.stop_user_orders has, or the dead man''s switch of '
  'the user, for which see trading.last_stopped_order; no row if it is not. The first of several '
  'counts. at_once: a switch that has expired counts without its grace.';
