create or replace function api.list_outcomes(event_id uuid)
returns json
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select json_build_object(
      'exclusive', e.exclusive,
      'outcomes', coalesce(n.outcomes, '[]')
    )
    from catalog.events as e
    cross join lateral (
      select json_agg(
        json_build_object(
          'marketId', m.public_id,
          'outcomeName', coalesce(m.outcome_name, m.title),
          'position', m."position",
          'chance', c.chance,
          'chanceKind', c.kind,
          'bestBid', p.best_bid,
          'bestAsk', p.best_ask,
          'volume', s.yes_volume_cents + s.no_volume_cents,
          'status', m.status,
          'resolvedOutcome', m.resolved_outcome
        )
        order by c.chance desc nulls last, m."position", m.id
      ) as outcomes
      from catalog.markets as m
      join trading.market_state as s on s.market_id = m.id
      cross join lateral (
        select
          trading.best_price(m.id, 'yes', (select core.now())) as best_bid,
          100 - trading.best_price(m.id, 'no', (select core.now())) as best_ask
      ) as p
      cross join lateral trading.chance_of(
        best_bid => p.best_bid,
        best_ask => p.best_ask,
        last_price => case when m.status <> 'resolved' then s.last_trade_price end
      ) as c
      where m.event_id = e.id
    ) as n
    where e.public_id = list_outcomes.event_id
  );
end
$$;

comment on function api.list_outcomes(uuid) is
  'The body of GET /events/:id/outcomes, or null for an unknown event: its markets, the one with '
  'the highest chance by trading.chance_of first, those without one last and by their place. '
  'outcomeName is the title of a market that has none. Prices leave out orders past their expiry.';
