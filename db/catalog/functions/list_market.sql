create or replace function catalog.list_market()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'INSERT' then
    delete from catalog.market_listings as l
    where l.category_id in (0, old.category_id)
      and l.list in ('open', 'closed', 'all')
      and l.market_id = old.id;
  end if;
  if tg_op <> 'DELETE' then
    insert into catalog.market_listings (category_id, list, market_id, close_time, volume_cents)
    select c.category_id, l.list, new.id, coalesce(new.close_time, 'infinity'), coalesce(
      (
        select b.yes_volume_cents + b.no_volume_cents
        from trading.market_state as b
        where b.market_id = new.id
      ), 0
    )
    from (values (0), (new.category_id)) as c (category_id)
    cross join (values
      ('all', true),
      ('open', new.status = 'open'),
      ('closed', new.status in ('closed', 'resolved'))
    ) as l (list, has_it)
    where l.has_it;
  end if;
  return null;
end
$$;

comment on function catalog.list_market() is
  'Trigger of catalog.markets: keeps the lists in which a market stands.';
