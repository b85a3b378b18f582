create or replace function admin.set_event_live(
  event_id uuid, live boolean, live_delay_ms int default null
)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_constraint text;
  v_column text;
begin
  perform admin.check_role('set_event_live');
  update catalog.events as e set
    live = set_event_live.live,
    live_delay_ms = coalesce(set_event_live.live_delay_ms, e.live_delay_ms)
  where e.public_id = set_event_live.event_id;
  if not found then
    perform core.raise_error('NOT_FOUND', format('There is no event %s', set_event_live.event_id));
  end if;
  perform admin.audit('set_event_live', jsonb_build_object(
    'event_id', set_event_live.event_id,
    'live', set_event_live.live,
    'live_delay_ms', set_event_live.live_delay_ms
  ));
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
  perform core.raise_violation(v_constraint, v_column);
end
$$;

comment on function admin.set_event_live(uuid, boolean, int) is
  'Turns live trading of an event on or off; without a delay it keeps the one it has. Orders that '
  'are scheduled already keep theirs. Errors: INVALID_REQUEST, NOT_FOUND. Locks: the row of the '
  'event.';
