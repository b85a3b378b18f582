create or replace function api.list_events(category text, page int, page_size int)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select core.page_object(
      e.events, c.event_count, list_events.page, list_events.page_size
    )
    from catalog.categories as c
    cross join lateral (
      select json_agg(
        catalog.event_object(p, c.slug)
        order by p.id desc
      ) as events
      from (
        -- Of the pages before this one only the index is read, and of those after the end nothing.
        select e.id
        from catalog.events as e
        where e.category_id = c.id
        order by e.id desc
        limit case
          when (list_events.page - 1)::bigint * list_events.page_size < c.event_count
          then list_events.page_size
          else 0
        end
        offset (list_events.page - 1)::bigint * list_events.page_size
      ) as i
      join catalog.events as p on p.id = i.id
    ) as e
    where c.slug = list_events.category
  );
end
$$;

comment on function api.list_events(text, int, int) is
  'The body of GET /categories/:slug/events, newest first, or null for an unknown category. page '
  'counts from 1.';
