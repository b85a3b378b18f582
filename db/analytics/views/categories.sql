create or replace view analytics.categories as
select
  c.id as category_key,
  c.slug as category,
  c.name,
  c."position" as position,
  c.event_count::bigint as event_count,
  c.open_market_count::bigint as open_market_count,
  c.closed_market_count::bigint as closed_market_count
from catalog.categories as c;

comment on view analytics.categories is 'Groups of events and markets.';
comment on column analytics.categories.category_key is 'Internal key, for joins.';
comment on column analytics.categories.category is 'Public name of the category, as in addresses.';
comment on column analytics.categories.name is 'Name for display.';
comment on column analytics.categories.position is 'Place in the order of display.';
comment on column analytics.categories.event_count is 'Events of the category.';
comment on column analytics.categories.open_market_count is 'Markets that are open.';
comment on column analytics.categories.closed_market_count is
  'Markets that are closed or resolved.';
