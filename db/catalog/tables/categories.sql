create table catalog.categories (
  id bigint generated always as identity primary key,
  slug text not null,
  name text not null,
  "position" int not null,
  constraint categories_slug_is_unique unique (slug),
  constraint categories_slug_is_url_safe
    check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 60 and slug <> 'all'),
  constraint categories_name_is_not_blank check (name ~ '\S' and length(name) <= 100)
);

comment on table catalog.categories is 'Groups of events and markets, in display order.';
comment on column catalog.categories.slug is
  'URL-safe name; "all" is kept for the leaderboard of every category.';
