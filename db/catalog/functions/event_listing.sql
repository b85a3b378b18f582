create or replace function catalog.event_listing(
  event_id bigint, out list text, out close_time timestamptz, out volume_cents bigint
)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select
    case
      when bool_or(m.status = 'open') then 'open'
      when bool_and(m.status in ('closed', 'resolved')) then 'closed'
      else 'none'
    end,
    coalesce(
      min(m.close_time) filter (where m.status = 'open'),
      case when not bool_or(m.status = 'open') then min(m.close_time) end,
      'infinity'
    ),
    coalesce(sum(l.volume_cents), 0)::bigint
  from catalog.markets as m
  -- The limit keeps it a look-up by the whole key, whatever the planner thinks of the table.
  left join lateral (
    select x.volume_cents
    from catalog.market_listings as x
    where x.category_id = 0 and x.list = 'all' and x.market_id = m.id
    limit 1
  ) as l on true
  where m.event_id = event_listing.event_id
$$;

comment on function catalog.event_listing(bigint) is
  'What catalog.event_listings has of an event, by its markets.';
