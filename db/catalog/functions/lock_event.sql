create or replace function catalog.lock_event(market_id bigint)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_event_id bigint;
begin
  perform core.check_session();
  -- The event of a market never changes.
  select e.id into v_event_id
  from catalog.events as e
  where e.id = (select m.event_id from catalog.markets as m where m.id = lock_event.market_id)
  for no key update;
  return v_event_id;
end
$$;

comment on function catalog.lock_event(bigint) is
  'Locks the row of the event of a market, which comes before every market, and returns the '
  'event, or null for a market of its own: two markets of one event are never resolved at the '
  'same moment. Errors: UNFIT_SESSION.';
