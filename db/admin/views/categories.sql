create or replace view admin.categories as
select
  c.id as category_key,
  c.slug as category,
  c.name,
  c."position" as position,
  c.event_count::bigint as event_count,
  c.open_market_count::bigint as open_market_count,
  c.closed_market_count::bigint as closed_market_count
from catalog.categories as c;

comment on view admin.categories is 'Groups of events and markets.';
comment on column admin.categories.category_key is 'Internal key, for joins.';
comment on column admin.categories.category is 'Public name of the category, as in addresses.';
comment on column admin.categories.name is 'Name for display.';
comment on column admin.categories.position is 'Place in the order of display.';
comment on column admin.categories.event_count is 'Events of the category.';
comment on column admin.categories.open_market_count is 'Markets that are open.';
comment on column admin.categories.closed_market_count is
  'Markets that are closed or resolved.';
