create or replace function api.get_market(market_id uuid)
returns table (version bigint, body json)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_market_id constant bigint := (
    select m.id from catalog.markets as m where m.public_id = get_market.market_id
  );
  v_at constant timestamptz := trading.time_of_book(v_market_id);
begin
  return query
  select
    b.version,
    json_build_object(
      'id', m.public_id,
      'title', m.title,
      'description', m.description,
      'category', c.slug,
      'status', m.status,
      'eventId', e.public_id,
      'bestBid', trading.best_price(m.id, 'yes', v_at),
      'bestAsk', 100 - trading.best_price(m.id, 'no', v_at),
      'lastTradePrice', b.last_trade_price,
      'yesVolume', b.yes_volume_cents,
      'noVolume', b.no_volume_cents,
      'closeTime', core.iso8601(m.close_time),
      'createdAt', core.iso8601(m.created_at),
      'resolvedOutcome', m.resolved_outcome,
      'thumbnailId', m.thumbnail_id,
      'thumbnailUrl', m.thumbnail_url
    )
  from catalog.markets as m
  join catalog.categories as c on c.id = m.category_id
  left join catalog.events as e on e.id = m.event_id
  join trading.market_state as b on b.market_id = m.id
  where m.id = v_market_id;
end
$$;

comment on function api.get_market(uuid) is
  'The body of GET /markets/:id and the version of the market; no row for an unknown market. '
  'Locks: those of trading.time_of_book().';
