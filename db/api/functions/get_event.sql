create or replace function api.get_event(event_id uuid)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select json_build_object(
      'id', e.public_id,
      'title', e.title,
      'description', e.description,
      'category', c.slug,
      'startsAt', core.iso8601(e.starts_at),
      'endsAt', core.iso8601(e.ends_at),
      'createdAt', core.iso8601(e.created_at),
      'thumbnailId', e.thumbnail_id,
      'thumbnailUrl', e.thumbnail_url,
      'markets', coalesce(n.markets, '[]')
    )
    from catalog.events as e
    join catalog.categories as c on c.id = e.category_id
    cross join lateral (
      select json_agg(
        json_build_object(
          'id', m.public_id,
          'title', m.title,
          'description', m.description,
          'status', m.status,
          'lastTradePrice', b.last_trade_price,
          'yesVolume', b.yes_volume_cents,
          'noVolume', b.no_volume_cents,
          'closeTime', core.iso8601(m.close_time),
          'resolvedOutcome', m.resolved_outcome,
          'thumbnailId', m.thumbnail_id,
          'thumbnailUrl', m.thumbnail_url
        )
        order by m.id
      ) as markets
      from catalog.markets as m
      join trading.market_state as b on b.market_id = m.id
      where m.event_id = e.id
    ) as n
    where e.public_id = get_event.event_id
  );
end
$$;

comment on function api.get_event(uuid) is
  'The body of GET /events/:id, with the event''s markets in the order of their creation, or null '
  'for an unknown event.';
