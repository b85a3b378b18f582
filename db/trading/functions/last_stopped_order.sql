create or replace function trading.last_stopped_order(user_id bigint, at timestamptz)
returns bigint
language sql stable
begin atomic
  select coalesce(
    s.last_order_id, trading.last_order_until(s.user_id, s.expires_at)
  )
  from trading.dead_man_switches as s
  where s.user_id = last_stopped_order.user_id
    and s.expires_at <= last_stopped_order.at
    -- A renewal that was in time may still be committing, unless a worker has looked.
    and (s.fired_at is not null or s.expires_at <= last_stopped_order.at - interval '2 seconds'); -- mutant: stopped_before_its_renewal
end;

comment on function trading.last_stopped_order(bigint, timestamptz) is
  'The last of the open orders of a user that the dead man''s switch has stopped; null if it has '
  'not. Stopped orders trade no more, and are cancelled by a worker or when they are met. A switch '
  'stops them at the moment when a worker finds it expired, and two seconds after its expiry if '
  'there is no worker.';
