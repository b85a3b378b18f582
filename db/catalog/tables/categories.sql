create table catalog.categories (
  id bigint generated always as identity primary key,
  slug text not null,
  name text not null,
  "position" int not null,
  event_count core.amount not null default 0,
  open_market_count core.amount not null default 0,
  closed_market_count core.amount not null default 0,
  paused_market_count core.amount not null default 0,
  constraint categories_slug_is_unique unique (slug),
  constraint categories_slug_is_url_safe
    check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 60 and slug <> 'all'),
  constraint categories_name_is_not_blank check (not core.is_blank(name) and length(name) <= 100)
);

comment on table catalog.categories is 'Groups of events and markets, in display order.';
comment on column catalog.categories.slug is
  'URL-safe name; "all" is kept for the leaderboard of every category.';
comment on column catalog.categories.event_count is
  'Events of the category, kept by a trigger of catalog.events; the counts of markets likewise by '
  'catalog.markets. So the total of a list costs nothing, however long it is.';
comment on column catalog.categories.closed_market_count is
  'Markets that are closed or resolved.';
