create or replace function api.get_market_rules(market_id uuid)
returns table (version bigint, body json)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := core.now();
begin
  return query
  select
    b.version,
    json_build_object(
      'feeRateBps', f.taker_rate_bps,
      'live', e.id is not null
        and (e.starts_at is null or e.starts_at <= v_at)
        and (e.ends_at is null or e.ends_at > v_at),
      'liveDelayMs', e.live_delay_ms,
      'liveFrom', core.iso8601(e.starts_at),
      'liveUntil', core.iso8601(e.ends_at),
      'minPrice', 1,
      'maxPrice', 99,
      'maxQuantity', 10000,
      'version', b.version,
      'resolutionRules', m.rules,
      'sourceUrl', m.source_url
    )
  from catalog.markets as m
  join trading.market_state as b on b.market_id = m.id
  left join trading.fee_in_force(m.id, m.category_id, v_at) as f on true
  left join catalog.events as e on e.id = m.event_id and e.live
  where m.public_id = get_market_rules.market_id;
end
$$;

comment on function api.get_market_rules(uuid) is
  'The body of GET /markets/:id/rules and the version of the market; no row for an unknown market. '
  'live: an order that is placed now waits liveDelayMs before it is matched. These three times are '
  'null when the event of the market is not live-traded, or has no such bound.';
