create or replace function catalog.lock_event(market_id bigint)
returns void
language plpgsql
as $$
begin
  perform core.check_session();
  -- The event of a market never changes.
  perform
  from catalog.events as e
  where e.id = (select m.event_id from catalog.markets as m where m.id = lock_event.market_id)
  for no key update;
end
$$;

comment on function catalog.lock_event(bigint) is
  'Locks the row of the event of a market, which comes before every market: two '
  'markets of one event are never resolved at the same moment. Does nothing for a market of its '
  'own. Errors: UNFIT_SESSION.';
