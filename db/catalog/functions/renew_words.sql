create or replace function catalog.renew_words()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from catalog.markets as m
  where m.event_id = new.id
  order by m.id
  for no key update;
  -- The trigger of the markets makes their words anew.
  update catalog.markets as m set title = m.title
  where m.event_id = new.id;
  return null;
end
$$;

comment on function catalog.renew_words() is
  'Trigger of catalog.events: when the title of an event changes, its markets are found by the new '
  'one. Locks: the rows of the markets in catalog.markets, by ascending key, for which no trading '
  'waits.';
