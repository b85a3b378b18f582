create or replace function api.list_categories()
returns json
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select json_build_object('data', coalesce(
    json_agg(json_build_object('slug', c.slug, 'name', c.name) order by c."position", c.id), '[]'
  ))
  from catalog.categories as c
$$;

comment on function api.list_categories() is 'The body of GET /categories, in display order.';
