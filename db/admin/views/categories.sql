-- The same as analytics.categories, in the schema that operators may read.
create or replace view admin.categories as
select
  x.category_key,
  x.category,
  x.name,
  x.position,
  x.event_count,
  x.open_market_count,
  x.closed_market_count
from analytics.categories as x;

comment on view admin.categories is 'Groups of events and markets.';
comment on column admin.categories.category_key is 'Internal key, for joins.';
comment on column admin.categories.category is 'Public name of the category, as in addresses.';
comment on column admin.categories.name is 'Name for display.';
comment on column admin.categories.position is 'Place in the order of display.';
comment on column admin.categories.event_count is 'Events of the category.';
comment on column admin.categories.open_market_count is 'Markets that are open.';
comment on column admin.categories.closed_market_count is
  'Markets that are closed or resolved.';
