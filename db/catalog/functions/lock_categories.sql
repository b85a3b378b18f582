create or replace function catalog.lock_categories(category_ids bigint[])
returns void
language plpgsql
as $$
begin
  perform
  from catalog.categories as c
  where c.id = any (lock_categories.category_ids)
  order by c.id
  for no key update;
end
$$;

comment on function catalog.lock_categories(bigint[]) is
  'Locks the rows of categories, by ascending key, whose counts are about to change.';
