create or replace function catalog.set_words()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text;
begin
  if tg_op = 'INSERT' then
    -- An event whose title is being changed does not see this market yet: its new title is waited
    -- for.
    perform
    from catalog.events as e
    where e.id = new.event_id
    for share;
  end if;
  v_text := concat_ws(' ', new.title, (
    select e.title
    from catalog.events as e
    where e.id = new.event_id
  ));
  new.words := to_tsvector('simple', v_text) || to_tsvector('english', v_text);
  return new;
end
$$;

comment on function catalog.set_words() is
  'Trigger of catalog.markets: keeps the words by which a market is found. Locks: for a new '
  'market, the row of the event.';
