create or replace function leaderboard.category_id(slug text)
returns bigint
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case category_id.slug
    when 'all' then 0
    else (select c.id from catalog.categories as c where c.slug = category_id.slug)
  end
$$;

comment on function leaderboard.category_id(text) is
  'The key of a category in the tables of this schema: 0 for "all"; null for an unknown one.';
