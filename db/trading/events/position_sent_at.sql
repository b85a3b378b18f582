create or replace function trading.position_sent_at("position" bigint)
returns timestamptz
language plpgsql stable
as $$
declare
  v_relay trading.outbox_relay;
  v_event record;
begin
  select r.* into strict v_relay
  from trading.outbox_relay as r
  where r.singleton;
  if position_sent_at.position = v_relay.last_position then
    return greatest(v_relay.last_sent_at, core.now());
  end if;
  select e.sent_at, e.position - coalesce(cardinality(e.trade_ids), 0) - 1 as before into v_event
  from trading.sent_events as e
  where e.position >= position_sent_at.position
  order by e.position
  limit 1;
  -- The very first position is before all events.
  return case
    when position_sent_at.position > v_event.before
      or position_sent_at.position = v_event.before and v_event.before = 0
    then v_event.sent_at
  end;
end
$$;

comment on function trading.position_sent_at(bigint) is
  'When the event at a position of the user streams was sent; of the last position now, because '
  'nothing came after it. Null for a position that was never given out, that a restore has undone, '
  'or whose event is not kept any more.';
