create or replace function trading.last_stopped_order(
  switch trading.dead_man_switches,
  at timestamptz,
  grace interval default interval '2 seconds'
)
returns bigint
language plpgsql stable
as $$
begin
  if switch.fired_at is not null or switch.expires_at <= at - grace then
    return coalesce(
      switch.last_order_id,
      (
        select o.id
        from trading.orders as o
        where o.user_id = switch.user_id
          and o.created_at <= switch.expires_at
        order by o.user_id desc, o.id desc
        limit 1
      ),
      0
    );
  end if;
  return null;
end
$$;

comment on function trading.last_stopped_order(
  trading.dead_man_switches, timestamptz, interval
) is
  'The last of the orders that a dead man''s switch stops, 0 if it has expired and stops none; '
  'null if it is off or has not expired. Stopped orders trade no more, and are cancelled by a '
  'worker or when they are met. grace: a switch that no worker has found expired stops nothing '
  'for so long after its expiry. Two seconds, since a renewal that was in time may still be '
  'committing; none for api.set_dead_man and workers, who lock the switch first.';
