create or replace view analytics.events as
select
  e.id as event_key,
  e.public_id as event_id,
  e.category_id as category_key,
  c.slug as category,
  e.title,
  e.starts_at,
  e.ends_at,
  e.live as is_live,
  e.live_delay_ms,
  e.exclusive as is_exclusive,
  e.created_at
from catalog.events as e
left join catalog.categories as c on c.id = e.category_id;

comment on view analytics.events is 'Real-world occurrences, each with one or more markets.';
comment on column analytics.events.event_key is 'Internal key, for joins.';
comment on column analytics.events.event_id is 'Public id.';
comment on column analytics.events.category_key is 'The category: internal key, for joins.';
comment on column analytics.events.category is 'The category''s public name.';
comment on column analytics.events.title is 'Title for display.';
comment on column analytics.events.starts_at is 'When it begins; null if that is not known.';
comment on column analytics.events.ends_at is 'When it ends; null if that is not known.';
comment on column analytics.events.is_live is
  'Live-traded: while the event lasts, new orders wait before they match.';
comment on column analytics.events.live_delay_ms is 'How long they wait, in milliseconds.';
comment on column analytics.events.is_exclusive is
  'Exactly one of its markets resolves YES.';
comment on column analytics.events.created_at is 'When an operator made it.';
