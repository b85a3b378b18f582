create or replace function catalog.count_event()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'INSERT' then
    update catalog.categories as c set event_count = c.event_count - 1
    where c.id = old.category_id;
  end if;
  if tg_op <> 'DELETE' then
    update catalog.categories as c set event_count = c.event_count + 1
    where c.id = new.category_id;
  end if;
  return null;
end
$$;

comment on function catalog.count_event() is
  'Trigger: keeps event_count of catalog.categories. Locks: the row of the category.';
