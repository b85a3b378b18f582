create or replace view admin.events as
select
  e.id as event_key,
  e.public_id as event_id,
  e.category_id as category_key,
  c.slug as category,
  e.title,
  e.description,
  e.starts_at,
  e.ends_at,
  e.live as is_live,
  e.live_delay_ms,
  e.created_at,
  e.thumbnail_id,
  e.thumbnail_url,
  e.exclusive as is_exclusive
from catalog.events as e
left join catalog.categories as c on c.id = e.category_id;

comment on view admin.events is 'Real-world occurrences, each with one or more markets.';
comment on column admin.events.event_key is 'Internal key, for joins.';
comment on column admin.events.event_id is 'Public id.';
comment on column admin.events.category_key is 'The category: internal key, for joins.';
comment on column admin.events.category is 'The category''s public name.';
comment on column admin.events.title is 'Title for display.';
comment on column admin.events.description is
  'Text for display; null if there is none.';
comment on column admin.events.starts_at is 'When it begins; null if that is not known.';
comment on column admin.events.ends_at is 'When it ends; null if that is not known.';
comment on column admin.events.is_live is
  'Live-traded: while the event lasts, new orders wait before they match.';
comment on column admin.events.live_delay_ms is 'How long they wait, in milliseconds.';
comment on column admin.events.created_at is 'When an operator made it.';
comment on column admin.events.thumbnail_id is 'Id of the picture; null if none was given.';
comment on column admin.events.thumbnail_url is 'Address of the picture; null if none was given.';
comment on column admin.events.is_exclusive is 'Exactly one of its markets resolves YES.';
