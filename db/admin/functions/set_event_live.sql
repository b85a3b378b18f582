create or replace function admin.set_event_live(
  event_id uuid, live boolean, live_delay_ms int default null
)
returns void
language plpgsql security definer
set search_path = ''
as $$
begin
  update catalog.events as e set
    live = set_event_live.live,
    live_delay_ms = coalesce(set_event_live.live_delay_ms, e.live_delay_ms)
  where e.public_id = set_event_live.event_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('no event %s', set_event_live.event_id));
  end if;
  perform admin.audit('set_event_live', jsonb_build_object(
    'event_id', set_event_live.event_id,
    'live', set_event_live.live,
    'live_delay_ms', set_event_live.live_delay_ms
  ));
end
$$;

comment on function admin.set_event_live(uuid, boolean, int) is
  'Turns live trading of an event on or off; without a delay it keeps the one it has. Orders that '
  'are scheduled already keep theirs. Errors: NOT_FOUND.';
