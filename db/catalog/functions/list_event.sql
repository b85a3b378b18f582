create or replace function catalog.list_event()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_event_id constant bigint := case when tg_op = 'DELETE' then old.event_id else new.event_id end;
begin
  if v_event_id is null then
    return null;
  end if;
  insert into catalog.event_listings (event_id, list, close_time, volume_cents)
  values (v_event_id, 'none', 'infinity', 0)
  on conflict on constraint event_listings_pkey do nothing;
  -- What another transaction has just changed in the event is seen once its row is held.
  perform from catalog.event_listings as l
  where l.event_id = v_event_id
  for no key update;
  update catalog.event_listings as l set
    list = n.list,
    close_time = n.close_time,
    volume_cents = n.volume_cents
  from catalog.event_listing(v_event_id) as n
  where l.event_id = v_event_id
    and (l.list, l.close_time, l.volume_cents)
      is distinct from (n.list, n.close_time, n.volume_cents);
  return null;
end
$$;

comment on function catalog.list_event() is
  'Trigger of catalog.markets: keeps the list in which the event of a market stands. Locks: the '
  'row of the event in catalog.event_listings, which comes after that of the category.';
