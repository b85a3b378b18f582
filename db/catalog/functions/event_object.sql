create or replace function catalog.event_object(event catalog.events, category text)
returns json
language sql stable parallel safe
return json_build_object(
  'id', (event).public_id,
  'title', (event).title,
  'description', (event).description,
  'category', category,
  'startsAt', core.iso8601((event).starts_at),
  'endsAt', core.iso8601((event).ends_at),
  'createdAt', core.iso8601((event).created_at),
  'thumbnailId', (event).thumbnail_id,
  'thumbnailUrl', (event).thumbnail_url
);

comment on function catalog.event_object(catalog.events, text) is
  'An event as lists of events show it, with the slug of its category.';
