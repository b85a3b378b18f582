create or replace function catalog.set_words()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- For a new market the event is locked, and its title stays (admin.create_market); a change of
  -- the title renews the words of the others (catalog.renew_words).
  v_text constant text := concat_ws(' ', new.title, (
    select e.title
    from catalog.events as e
    where e.id = new.event_id
  ));
begin
  new.words := to_tsvector('simple', v_text) || to_tsvector('english', v_text);
  return new;
end
$$;

comment on function catalog.set_words() is
  'Trigger of catalog.markets: keeps the words by which a market is found.';
