create or replace function catalog.count_market()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'INSERT' then
    update catalog.categories as c set
      open_market_count = c.open_market_count - (old.status = 'open')::int,
      paused_market_count = c.paused_market_count - (old.status = 'paused')::int,
      closed_market_count = c.closed_market_count - (old.status in ('closed', 'resolved'))::int
    where c.id = old.category_id;
  end if;
  if tg_op <> 'DELETE' then
    update catalog.categories as c set
      open_market_count = c.open_market_count + (new.status = 'open')::int,
      paused_market_count = c.paused_market_count + (new.status = 'paused')::int,
      closed_market_count = c.closed_market_count + (new.status in ('closed', 'resolved'))::int
    where c.id = new.category_id;
  end if;
  return null;
end
$$;

comment on function catalog.count_market() is
  'Trigger: keeps the counts of markets in catalog.categories. Locks: the row of the category.';
