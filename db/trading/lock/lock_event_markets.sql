create or replace function trading.lock_event_markets(event_id bigint)
returns void
language plpgsql
as $$
begin
  perform catalog.lock_event((
    select min(m.id) from catalog.markets as m where m.event_id = lock_event_markets.event_id
  ));
  perform trading.lock_markets(array(
    select m.id
    from catalog.markets as m
    where m.event_id = lock_event_markets.event_id
    order by m.id
  ));
end
$$;

comment on function trading.lock_event_markets(bigint) is
  'Locks an event and all its markets until the transaction ends: its row first, so that no market '
  'comes to it meanwhile, then the markets in ascending id. Errors: UNFIT_SESSION.';
