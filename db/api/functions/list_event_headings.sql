create or replace function api.list_event_headings(event_ids uuid[])
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select json_build_object(
      'data', coalesce(
        json_agg(
          json_build_object(
            'id', e.public_id,
            'title', e.title,
            'startsAt', core.iso8601(e.starts_at),
            'endsAt', core.iso8601(e.ends_at),
            'liveDelayMs', case when e.live then e.live_delay_ms end
          )
          order by e.public_id
        ),
        '[]'
      )
    )
    from catalog.events as e
    where e.public_id = any (list_event_headings.event_ids)
  );
end
$$;

comment on function api.list_event_headings(uuid[]) is
  'The body of GET /event-headings: what a list of markets shows of these events. liveDelayMs is '
  'null for an event that is not live-traded. Unknown events are left out.';
